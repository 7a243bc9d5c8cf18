"""Small kernels whose counters were recorded on hardware, and the table that holds them.

`suite` collects the cases, `record` runs them under Nsight Compute on a GPU and writes the table,
`table` reads it and lays the simulator's counters beside it.
"""
