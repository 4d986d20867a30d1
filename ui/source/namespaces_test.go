package source

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNamespacesOfLogs(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"shop_web-1_uid", "kube-system_dns_uid", "shop_web-2_uid", "lost+found"} {
		if err := os.Mkdir(filepath.Join(folder, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"kube-system", "shop"}, namespacesIn(folder)); diff != "" {
		t.Error(diff)
	}
	if all := namespacesIn(filepath.Join(folder, "none")); all != nil {
		t.Errorf("of no folder: %q", all)
	}
}
