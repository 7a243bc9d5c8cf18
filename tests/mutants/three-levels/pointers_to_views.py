"""MUST GET: refused, line 36, cause bad-call. A pointer knows no strides."""

from wia_lab import hal as wia

SOURCE = """
__kernel void own_matmul(__global const float* a, __global const float* b, __global float* c,
                         int m, int k, int n) {
    int column = get_global_id(0);
    int row = get_global_id(1);
    if (row < m && column < n) {
        float total = 0.0f;
        for (int i = 0; i < k; i++) {
            total += a[row * k + i] * b[i * n + column];
        }
        c[row * n + column] = total;
    }
}
"""


class ThreeLevels:
    def simple(self, a, b):
        return wia.matmul(a, b)

    def configured(self, a, b):
        newer = a.context.device.info.compute_capability >= (8, 0)
        algorithm = wia.MatmulAlgorithm.PIPELINE if newer else wia.MatmulAlgorithm.DOUBLE_BUFFERED
        config = wia.MatmulConfig(algorithm=algorithm, precision=wia.Precision.MIXED)
        return wia.matmul(a, b, config=config)

    def own(self, a, b):
        (m, k), n = a.shape, b.shape[1]
        c = wia.empty(a.context, (m, n))
        launch = wia.LaunchConfig(global_size=(n, m), local_size=(16, 8))
        kernel = wia.compile_kernel(SOURCE)
        wia.launch_kernel(kernel, launch, a, b, c, m, k, n)
        return c
