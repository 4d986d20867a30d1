package sim

import (
	"testing"

	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

func TestStats(t *testing.T) {
	_, c, p := pair(t)
	ctx := t.Context()
	list, err := c.ListContainerStats(ctx, &cri.ListContainerStatsRequest{})
	if err != nil || len(list.Stats) != 1 || list.Stats[0].Attributes.Id != p.Containers["a"] || list.Stats[0].Memory.WorkingSetBytes.Value == 0 {
		t.Errorf("stats of the running: %v, %v", list, err)
	}
	none, err := c.ContainerStats(ctx, &cri.ContainerStatsRequest{ContainerId: p.Containers["b"]})
	if err != nil || none.Stats.Memory.WorkingSetBytes.Value != 0 {
		t.Errorf("stats of one that does not run: %v, %v", none, err)
	}
	pod, err := c.PodSandboxStats(ctx, &cri.PodSandboxStatsRequest{PodSandboxId: p.Sandbox})
	if err != nil || len(pod.Stats.Linux.Containers) != 1 || pod.Stats.Linux.Cpu.UsageNanoCores.Value == 0 {
		t.Errorf("stats of the pod: %v, %v", pod, err)
	}
	pods, err := c.ListPodSandboxStats(ctx, &cri.ListPodSandboxStatsRequest{Filter: &cri.PodSandboxStatsFilter{Id: p.Sandbox[:10]}})
	if err != nil || len(pods.Stats) != 1 {
		t.Errorf("stats of all pods: %v, %v", pods, err)
	}
	if _, err := c.ContainerStats(ctx, &cri.ContainerStatsRequest{ContainerId: "none"}); err == nil {
		t.Error("stats of none: no error")
	}
}

func TestImages(t *testing.T) {
	_, c := start(t, "tour")
	ctx := t.Context()
	list, err := c.images.ListImages(ctx, &cri.ListImagesRequest{})
	if err != nil || len(list.Images) < 10 {
		t.Fatalf("%d images, %v; want those of the tour", len(list.GetImages()), err)
	}
	containers, err := c.ListContainers(ctx, &cri.ListContainersRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, by := range []string{imageProxy, imageID(imageProxy), imageRef(imageProxy), containers.Containers[0].ImageRef} {
		got, err := c.images.ImageStatus(ctx, &cri.ImageStatusRequest{Image: &cri.ImageSpec{Image: by}})
		if err != nil || got.Image == nil {
			t.Errorf("status of %s: %v, %v", by, got, err)
		}
	}
	for _, by := range []string{"", "no/such:image"} {
		if got, err := c.images.ImageStatus(ctx, &cri.ImageStatusRequest{Image: &cri.ImageSpec{Image: by}}); err != nil || got.Image != nil {
			t.Errorf("status of %q: %v, %v; want neither", by, got, err)
		}
	}
	fs, err := c.images.ImageFsInfo(ctx, &cri.ImageFsInfoRequest{})
	if err != nil || fs.ImageFilesystems[0].UsedBytes.Value == 0 {
		t.Errorf("file system: %v, %v", fs, err)
	}
}

func TestRepository(t *testing.T) {
	for image, want := range map[string]string{
		"docker.io/library/nginx:1.29": "docker.io/library/nginx", "localhost:5000/app": "localhost:5000/app", "app": "app",
	} {
		if got := repository(image); got != want {
			t.Errorf("repository(%q) = %q, want %q", image, got, want)
		}
	}
}
