"""Operations on tensors (§3.6.1, §3.7), one module a topic; `wia_lab.hal` offers them by name."""
