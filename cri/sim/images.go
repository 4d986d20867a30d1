package sim

import (
	"context"
	"slices"
	"strings"

	"google.golang.org/grpc"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

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
