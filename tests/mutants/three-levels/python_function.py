"""MUST GET: wrong-way, cause python-function. The device calls NumPy."""

from wia_lab import hal as wia


def product(a, b, c, m, k, n):
    left, right = a.view("float32").reshape(m, k), b.view("float32").reshape(k, n)
    c.view("float32").reshape(m, n)[:] = left @ right


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
        a, b = wia.contiguous(a), wia.contiguous(b)
        c = wia.empty(a.context, (m, n))
        stream = wia.default_stream(a.context)
        stream.submit(product, a.part, b.part, c.part, m, k, n, seconds=1e-5)
        return c
