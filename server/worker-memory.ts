/**
 * MiB of young objects of a worker thread with a memory limit. Node ends a thread that reaches its limit, for which it has a
 * reserve of 16 MiB; all young objects may become old at once, and more of them than the reserve would end the process.
 */
export const MAX_YOUNG_MEGABYTES = 8
