package record

import (
	"bytes"
	"errors"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

func TestSecretsAreTakenAway(t *testing.T) {
	for text, want := range map[string]string{
		"kubelet --token hunter2 --v=2":                     "kubelet --token *** --v=2",
		"kubelet --bootstrap-token=hunter2 -v":              "kubelet --bootstrap-token=*** -v",
		"x --password 'hunter2 is it' y":                    "x --password *** y",
		`x --password="hunter2 is it" y`:                    "x --password=*** y",
		`exec ["mysql" "--password" "hunter2" "-h" "db"]`:   `exec ["mysql" "--password" *** "-h" "db"]`,
		`args: ["--api-key","hunter2"]`:                     `args: ["--api-key",***]`,
		"mysql -phunter2 -h db":                             "mysql -p*** -h db",
		"mysql -p hunter2 -h db":                            "mysql -p *** -h db",
		"-phunter2":                                         "-p***",
		"docker login -u u -p 123456 registry.corp":         "docker login -u u -p *** registry.corp",
		"sshpass -p 8080 ssh node":                          "sshpass -p *** ssh node",
		`exec ["iptables","-p","tcp","--dport","80"]`:       `exec ["iptables","-p","tcp","--dport","80"]`,
		"mkdir -p /var/lib/kubelet: no space left":          "mkdir -p /var/lib/kubelet: no space left",
		"ssh -p 2222 node, nerdctl run -p 8080:80/tcp x":    "ssh -p 2222 node, nerdctl run -p 8080:80/tcp x",
		"DB_PASSWORD=hunter2 HOME=/":                        "DB_PASSWORD=*** HOME=/",
		"AWS_SECRET_ACCESS_KEY=hunter2":                     "AWS_SECRET_ACCESS_KEY=***",
		"GET /v1?token=hunter2&x=1":                         "GET /v1?token=***&x=1",
		`{"auth":{"password": "hunter2","user":"u"}}`:       `{"auth":{"password": ***,"user":"u"}}`,
		"Authorization: Bearer hunter2hunter2.x":            "Authorization: Bearer ***",
		"pull https://u:hunter2@registry.corp/api: refused": "pull https://***registry.corp/api: refused",
		"https://hunter2@registry.corp":                     "https://***registry.corp",
		"no secret was found, the token bucket is empty":    "no secret was found, the token bucket is empty",
		"registry.corp/api@sha256:0123":                     "registry.corp/api@sha256:0123",
		"context deadline exceeded":                         "context deadline exceeded",
	} {
		if got := withoutSecrets(text); got != want {
			t.Errorf("%q\nbecomes %q\nwant    %q", text, got, want)
		}
	}
}

// Whatever has a secret is looked at more closely.
func FuzzSuspect(f *testing.F) {
	for _, text := range []string{"x --Password 'hunter2 is it' y", "GET /v1?api_key=hunter2&x=1", `{"Access-Key": "hunter2"}`, "BASIC hunter2hunter2", "ftp://u@host", "paſſword=1", "no such thing"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if replaced := secretsReplaced(text); replaced != text && !suspect(text) {
			t.Errorf("%q would be %q, and is not looked at", text, replaced)
		}
	})
}

// filled fills all that a value has but names: each text with one, each list with an element.
func filled(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		filled(v.Elem(), text)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		filled(v.Index(0), text)
	case reflect.Array:
		for i := range v.Len() {
			filled(v.Index(i), text)
		}
	case reflect.Map:
		k, e := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		filled(k, text)
		filled(e, text)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(k, e)
	case reflect.Struct:
		for f, of := range v.Fields() {
			if f.IsExported() && f.Name != "Image" && f.Type != reflect.TypeFor[pleg.PodRef]() {
				filled(of, text)
			}
		}
	}
}

// recordedBytes is what the file of a node has after decompression whose runtime and whose every
// text of evidence says something.
func recordedBytes(t *testing.T, says string) []byte {
	t.Helper()
	r := NewRecorder(Options{Segments: 4 * time.Second})
	synctest.Test(t, func(t *testing.T) {
		n := newNode(3, 2)
		n.asked = func(call.Operation) {
			if time.Since(n.sandboxes[0].CreatedAt) > 3*time.Second {
				n.fail(errors.New(says))
			}
		}
		run{node: n, tape: r, changes: 1, look: func(bool) *evidence.Report {
			report := new(evidence.Report)
			filled(reflect.ValueOf(report).Elem(), says)
			return report
		}}.lasts(t, 12*time.Second)
	})
	if s := r.State(); s.Ended != "" {
		t.Fatal(s.Ended)
	}
	all, err := play(r.Recording())
	if err != nil || len(all) < 10 {
		t.Fatalf("%d moments, %v", len(all), err)
	}
	file := bytesOf(t, r)
	return append(unpacked(t, file), file...) // with the heads
}

// No secret is in the bytes of a recording, in whatever the runtime or the node says.
func TestNoSecretIsRecorded(t *testing.T) {
	says := "start runc: exec [app --token hunter2 --password=hunter2 -phunter2 --db-password 'hunter2'] with API_TOKEN=hunter2: https://u:hunter2@h/?token=hunter2"
	got := recordedBytes(t, says)
	if bytes.Contains(got, []byte("hunter2")) || !bytes.Contains(got, []byte("start runc: exec [app --token ***")) {
		t.Errorf("a secret is recorded, or nothing of what was said")
	}
}
