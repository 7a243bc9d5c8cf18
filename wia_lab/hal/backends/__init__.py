"""Back ends of the HAL: what a machine is made of, behind one protocol."""
