// Package cgroup tells when containers start and end as the kernel does, without asking
// their runtime: by the tree of control groups.
package cgroup
