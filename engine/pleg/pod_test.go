package pleg

import "testing"

// TestObjectsAreNamedByTheirPath holds that a container's name stands behind its pod's, as the
// path that it is: a space would make a word of the sentence of it.
func TestObjectsAreNamedByTheirPath(t *testing.T) {
	pod := PodRef{UID: "u", Namespace: "shop", Name: "web"}
	for _, tt := range []struct {
		of           ObjectRef
		path, called string
	}{
		{ObjectRef{Pod: pod, Container: "app", ID: "c"}, "shop/web/app", "shop/web/app"},
		{ObjectRef{Pod: pod, ID: "s", Sandbox: true}, "shop/web", "shop/web"},
		{ObjectRef{Pod: pod, ID: "c"}, "shop/web", "shop/web container c"},
		{ObjectRef{Pod: PodRef{UID: "u"}, Container: "app"}, "u/app", "u/app"},
		{ObjectRef{Container: "app", ID: "c"}, "app", "c (of a pod whose name is not known)"},
	} {
		if path, called := tt.of.Path(), tt.of.String(); path != tt.path || called != tt.called {
			t.Errorf("%+v is %q and called %q, want %q and %q", tt.of, path, called, tt.path, tt.called)
		}
	}
}
