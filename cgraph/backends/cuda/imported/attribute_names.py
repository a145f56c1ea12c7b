"""The attributes of kernels and kernel nodes that an imported graph keeps, by name. Numbers are those of cuda.h."""

from collections.abc import Mapping

# CUfunction_attribute: what a program can set, and so what a module that was loaded anew would lack.
FUNCTION_ATTRIBUTES: Mapping[str, int] = {
    "max_dynamic_shared_size_bytes": 8,
    "preferred_shared_memory_carveout": 9,
    "required_cluster_width": 11,
    "required_cluster_height": 12,
    "required_cluster_depth": 13,
    "non_portable_cluster_size_allowed": 14,
    "cluster_scheduling_policy_preference": 15,
}

# CUlaunchAttributeID, and how many bytes of CUlaunchAttributeValue the attribute has.
NODE_ATTRIBUTES: Mapping[str, tuple[int, int]] = {
    "cooperative": (2, 4),
    "cluster_dimension": (4, 12),
    "cluster_scheduling_policy_preference": (5, 4),
    "priority": (8, 4),
    "mem_sync_domain_map": (9, 2),
    "mem_sync_domain": (10, 4),
    "preferred_cluster_dimension": (11, 12),
    "preferred_shared_memory_carveout": (14, 4),
    "nvlink_util_centric_scheduling": (16, 4),
    "portable_cluster_size_mode": (17, 4),
    "shared_memory_mode": (18, 4),
}

# An address, events, and a handle for updates from the device: number, and the bytes that are zero where it is not set.
REFUSED_ATTRIBUTES: Mapping[str, tuple[int, slice]] = {
    "access_policy_window": (1, slice(8, 16)),
    "programmatic_event": (7, slice(0, 8)),
    "launch_completion_event": (12, slice(0, 8)),
    "device_updatable_kernel_node": (13, slice(0, 4)),
}
