package record

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
)

func TestSecretsAreTakenAway(t *testing.T) {
	for text, want := range map[string]string{
		"kubelet --token hunter2 --v=2":                      "kubelet --token *** --v=2",
		"kubelet --bootstrap-token=hunter2 -v":               "kubelet --bootstrap-token=*** -v",
		"x --password 'hunter2 is it' y":                     "x --password *** y",
		`x --password="hunter2 is it" y`:                     "x --password=*** y",
		`exec ["mysql" "--password" "hunter2" "-h" "db"]`:    `exec ["mysql" "--password" *** "-h" "db"]`,
		`args: ["--api-key","hunter2"]`:                      `args: ["--api-key",***]`,
		"mysql -phunter2 -h db":                              "mysql -p*** -h db",
		"mysql -p hunter2 -h db":                             "mysql -p *** -h db",
		"-phunter2":                                          "-p***",
		"docker login -u u -p 123456 registry.corp":          "docker login -u u -p *** registry.corp",
		"sshpass -p 8080 ssh node":                           "sshpass -p *** ssh node",
		`exec ["iptables","-p","tcp","--dport","80"]`:        `exec ["iptables","-p","tcp","--dport","80"]`,
		"mkdir -p /var/lib/kubelet: no space left":           "mkdir -p /var/lib/kubelet: no space left",
		"ssh -p 2222 node, nerdctl run -p 8080:80/tcp x":     "ssh -p 2222 node, nerdctl run -p 8080:80/tcp x",
		"DB_PASSWORD=hunter2 HOME=/":                         "DB_PASSWORD=*** HOME=/",
		"AWS_SECRET_ACCESS_KEY=hunter2":                      "AWS_SECRET_ACCESS_KEY=***",
		"GET /v1?token=hunter2&x=1":                          "GET /v1?token=***&x=1",
		`{"auth":{"password": "hunter2","user":"u"}}`:        `{"auth":{"password": ***,"user":"u"}}`,
		"Authorization: Bearer hunter2hunter2.x":             "Authorization: Bearer ***",
		"pull https://u:hunter2@registry.corp/api: refused":  "pull https://***registry.corp/api: refused",
		"https://hunter2@registry.corp":                      "https://***registry.corp",
		"mount -o password=ab,cd,vers=3.0 //nas/x":           "mount -o password=***,vers=3.0 //nas/x",
		"--password=Tr0ub4dor,&3 --x":                        "--password=*** --x",
		"DB_PASSWORD=a&b;c run":                              "DB_PASSWORD=*** run",
		`{"password":"a\"bcd"}`:                              `{"password":***}`,
		"postgres://u:p@ss@host/db failed":                   "postgres://***host/db failed",
		"--password=ab,cd=ef --x":                            "--password=*** --x",
		"ftp://u:p,x=1@host":                                 "ftp://***host",
		"https://u:p/w@host/db failed":                       "https://***host/db failed",
		"docker://registry.corp/api@sha256:0123":             "docker://registry.corp/api@sha256:0123",
		"env:\n  - db_password: hunter2\n":                   "env:\n  - db_password: ***\n",
		"failed to fetch anonymous token: unexpected status": "failed to fetch anonymous token: unexpected status",
		"no secret was found, the token bucket is empty":     "no secret was found, the token bucket is empty",
		"registry.corp/api@sha256:0123":                      "registry.corp/api@sha256:0123",
		"context deadline exceeded":                          "context deadline exceeded",
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

// No secret is in the bytes of a recording, in whatever the runtime or the node says.
func TestNoSecretIsRecorded(t *testing.T) {
	says := "start runc: exec [app --token hunter2 --password=hunter2 -phunter2 --db-password 'hunter2'] with API_TOKEN=hunter2: https://u:hunter2@h/?token=hunter2 \xff"
	rec := record(t, Options{}, "", 0, func(f *fake, observe func(time.Time, engine.Observation)) {
		f.Texts = []string{says}
		for _, kind := range kinds {
			v := reflect.New(kind).Elem()
			filled(v, says, noon)
			switch o := v.Interface().(type) {
			case engine.Mark:
				observe(noon, engine.Marked{Mark: o})
			case callEnded:
				observe(noon, engine.CallEnded{Err: o.Err})
			case engine.Observation:
				observe(noon, o)
			}
		}
		observe(noon, engine.CallEnded{Answer: engine.Answer{Container: &pleg.ContainerStatus{Reason: says, Message: says}}})
		observe(noon, engine.CallEnded{Answer: engine.Answer{Containers: []*pleg.ListedContainer{{Pod: pleg.PodRef{UID: "u"}, Container: pleg.Container{ID: "a", Image: says}}}}})
		observe(noon, engine.CallEnded{Answer: engine.Answer{Conditions: []pleg.Condition{{Reason: says, Message: says}}}})
	})
	if s := rec.State(); s.Ended != "" {
		t.Fatal(s.Ended)
	}
	r := rec.Recording()
	got := plainOf(t, r)
	if n := bytes.Count(got, []byte("start runc: exec [app --token ***")); bytes.Contains(got, []byte("hunter2")) || n < 100 {
		t.Errorf("a secret is recorded, or only %d texts of what was said", n)
	}
	p := player(r, time.Time{})
	defer p.Close()
	for seen := 0; ; seen++ {
		if _, _, err := p.step(); err != nil {
			if !errors.Is(err, io.EOF) || seen < len(kinds)+3 {
				t.Errorf("after %d observations: %v", seen, err)
			}
			break
		}
	}
}
