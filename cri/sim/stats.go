package sim

import (
	"context"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// stats returns the usage of a container as of now. What it uses depends on
// its id, and the time it has run; one that does not run uses nothing.
func (c *container) stats(now time.Time) *cri.ContainerStats {
	at := now.UnixNano()
	var ran time.Duration
	var cores, memory uint64
	if c.state == cri.ContainerState_CONTAINER_RUNNING {
		n := hash64(c.id)
		ran, cores, memory = now.Sub(c.started), 200_000+n%20_000_000, 8<<20+n>>8%(120<<20)
	}
	return &cri.ContainerStats{
		Attributes: &cri.ContainerAttributes{Id: c.id, Metadata: c.metadata(), Labels: c.labels, Annotations: c.annotations},
		Cpu: &cri.CpuUsage{
			Timestamp:            at,
			UsageCoreNanoSeconds: &cri.UInt64Value{Value: uint64(ran.Seconds() * float64(cores))},
			UsageNanoCores:       &cri.UInt64Value{Value: cores},
		},
		Memory: &cri.MemoryUsage{
			Timestamp: at, WorkingSetBytes: &cri.UInt64Value{Value: memory},
			UsageBytes: &cri.UInt64Value{Value: memory + memory/8}, RssBytes: &cri.UInt64Value{Value: memory - memory/4},
		},
		WritableLayer: &cri.FilesystemUsage{
			Timestamp: at, FsId: &cri.FilesystemIdentifier{Mountpoint: imageFolder},
			UsedBytes: &cri.UInt64Value{Value: 36 << 10}, InodesUsed: &cri.UInt64Value{Value: 12},
		},
	}
}

func hash64(s string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(s))
	return h.Sum64()
}

// stats returns the usage of a sandbox and of the containers in it.
func (s *sandbox) stats(now time.Time) *cri.PodSandboxStats {
	l := &cri.LinuxPodSandboxStats{
		Cpu:     &cri.CpuUsage{Timestamp: now.UnixNano(), UsageNanoCores: &cri.UInt64Value{}},
		Memory:  &cri.MemoryUsage{Timestamp: now.UnixNano(), WorkingSetBytes: &cri.UInt64Value{}},
		Process: &cri.ProcessUsage{Timestamp: now.UnixNano(), ProcessCount: &cri.UInt64Value{Value: 1}},
	}
	for _, c := range s.pod.containers {
		if c.sandbox != s || c.state != cri.ContainerState_CONTAINER_RUNNING {
			continue
		}
		one := c.stats(now)
		l.Containers = append(l.Containers, one)
		l.Cpu.UsageNanoCores.Value += one.Cpu.UsageNanoCores.Value
		l.Memory.WorkingSetBytes.Value += one.Memory.WorkingSetBytes.Value
		l.Process.ProcessCount.Value++
	}
	return &cri.PodSandboxStats{
		Attributes: &cri.PodSandboxAttributes{Id: s.id, Metadata: s.metadata(), Labels: s.labels, Annotations: s.annotations},
		Linux:      l,
	}
}

func (r runtimeService) ContainerStats(_ context.Context, q *cri.ContainerStatsRequest) (*cri.ContainerStatsResponse, error) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	c, err := find(r.s.scene.containerOf, q.GetContainerId())
	if err != nil {
		return nil, because(err, "failed to find container")
	}
	return &cri.ContainerStatsResponse{Stats: c.stats(r.s.wall())}, nil
}

func (r runtimeService) PodSandboxStats(_ context.Context, q *cri.PodSandboxStatsRequest) (*cri.PodSandboxStatsResponse, error) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	sb, err := find(r.s.scene.sandboxOf, q.GetPodSandboxId())
	if err != nil {
		return nil, because(err, "an error occurred when trying to find sandbox "+q.GetPodSandboxId())
	}
	return &cri.PodSandboxStatsResponse{Stats: sb.stats(r.s.wall())}, nil
}

// wall returns what the node's clock shows. The server's mutex must be held.
func (s *Server) wall() time.Time { return s.Now().Add(s.scene.skew) }

func (s *Server) containerStats(f *cri.ContainerStatsFilter) []*cri.ContainerStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := []*cri.ContainerStats{}
	for _, c := range s.scene.matchingContainers(&cri.ContainerFilter{
		Id: f.GetId(), PodSandboxId: f.GetPodSandboxId(), LabelSelector: f.GetLabelSelector(),
	}) {
		if c.state == cri.ContainerState_CONTAINER_RUNNING {
			all = append(all, c.stats(s.wall()))
		}
	}
	return all
}

func (s *Server) sandboxStats(f *cri.PodSandboxStatsFilter) []*cri.PodSandboxStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := []*cri.PodSandboxStats{}
	for _, sb := range s.scene.sandboxes {
		if sb.ready && strings.HasPrefix(sb.id, f.GetId()) && selects(f.GetLabelSelector(), sb.labels) {
			all = append(all, sb.stats(s.wall()))
		}
	}
	return all
}

func (r runtimeService) ListContainerStats(_ context.Context, q *cri.ListContainerStatsRequest) (*cri.ListContainerStatsResponse, error) {
	return &cri.ListContainerStatsResponse{Stats: r.s.containerStats(q.GetFilter())}, nil
}

func (r runtimeService) ListPodSandboxStats(_ context.Context, q *cri.ListPodSandboxStatsRequest) (*cri.ListPodSandboxStatsResponse, error) {
	return &cri.ListPodSandboxStatsResponse{Stats: r.s.sandboxStats(q.GetFilter())}, nil
}

func (r runtimeService) StreamContainerStats(q *cri.StreamContainerStatsRequest, to grpc.ServerStreamingServer[cri.StreamContainerStatsResponse]) error {
	return to.Send(&cri.StreamContainerStatsResponse{ContainerStats: r.s.containerStats(q.GetFilter())})
}

func (r runtimeService) StreamPodSandboxStats(q *cri.StreamPodSandboxStatsRequest, to grpc.ServerStreamingServer[cri.StreamPodSandboxStatsResponse]) error {
	return to.Send(&cri.StreamPodSandboxStatsResponse{PodSandboxStats: r.s.sandboxStats(q.GetFilter())})
}

// An imageService answers the calls of CRI's ImageService that change nothing.
type imageService struct {
	cri.UnimplementedImageServiceServer
	s *Server
}

// imageFolder is where the node would keep its images.
const imageFolder = "/var/lib/containerd/io.containerd.snapshotter.v1.overlayfs"

// repository returns an image's name without its tag.
func repository(image string) string {
	if i := strings.LastIndexByte(image, ':'); i > strings.LastIndexByte(image, '/') {
		return image[:i]
	}
	return image
}

// imageNamed describes an image. Its size depends on its name.
func imageNamed(name string) *cri.Image {
	return &cri.Image{
		Id: imageID(name), RepoTags: []string{name}, RepoDigests: []string{imageRef(name)},
		Size: 4<<20 + hash64(name)%(300<<20), Uid: &cri.Int64Value{Value: 65532}, Pinned: name == pauseImage,
	}
}

// imagesFor returns the images of the node's containers that pass a filter:
// those of the name, id or digest that it gives, or all of them.
func (s *Server) imagesFor(f *cri.ImageFilter) []*cri.Image {
	names := []string{pauseImage}
	s.mu.Lock()
	for _, c := range s.scene.containers {
		if c.spec.image != "" {
			names = append(names, c.spec.image)
		}
	}
	s.mu.Unlock()
	slices.Sort(names)
	var all []*cri.Image
	want := f.GetImage().GetImage()
	for _, name := range slices.Compact(names) {
		image := imageNamed(name)
		if want == "" || want == name || want == image.Id || want == image.RepoDigests[0] {
			all = append(all, image)
		}
	}
	return all
}

func (i imageService) ListImages(_ context.Context, q *cri.ListImagesRequest) (*cri.ListImagesResponse, error) {
	return &cri.ListImagesResponse{Images: i.s.imagesFor(q.GetFilter())}, nil
}

func (i imageService) StreamImages(q *cri.StreamImagesRequest, to grpc.ServerStreamingServer[cri.StreamImagesResponse]) error {
	return to.Send(&cri.StreamImagesResponse{Images: i.s.imagesFor(q.GetFilter())})
}

// ImageStatus answers without an image, not with an error, where there is none.
func (i imageService) ImageStatus(_ context.Context, q *cri.ImageStatusRequest) (*cri.ImageStatusResponse, error) {
	answer := &cri.ImageStatusResponse{}
	if q.GetImage().GetImage() == "" {
		return answer, nil
	}
	if found := i.s.imagesFor(&cri.ImageFilter{Image: q.GetImage()}); len(found) > 0 {
		answer.Image = found[0]
		if q.GetVerbose() {
			answer.Info = infoOf(map[string]any{"imageSpec": map[string]any{"architecture": "amd64", "os": "linux"}})
		}
	}
	return answer, nil
}

func (i imageService) ImageFsInfo(context.Context, *cri.ImageFsInfoRequest) (*cri.ImageFsInfoResponse, error) {
	use := &cri.FilesystemUsage{
		Timestamp: i.s.Now().UnixNano(), FsId: &cri.FilesystemIdentifier{Mountpoint: imageFolder},
		UsedBytes: &cri.UInt64Value{}, InodesUsed: &cri.UInt64Value{},
	}
	for _, image := range i.s.imagesFor(nil) {
		use.UsedBytes.Value += image.Size
		use.InodesUsed.Value += image.Size >> 14
	}
	return &cri.ImageFsInfoResponse{ImageFilesystems: []*cri.FilesystemUsage{use}}, nil
}
