package record

import (
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine/pleg"
)

// secretWords stand in the names of what is secret.
var secretWords = []string{"token", "passw", "passphrase", "pwd", "secret", "api-key", "api_key", "apikey", "access-key", "access_key", "accesskey", "credential"}

var secretName = `[a-z0-9_-]*(?:` + strings.Join(secretWords, "|") + `)[a-z0-9_-]*`

const secretValue = `(?:"[^"]*"|'[^']*'|[^\s"'&,;\]}]+)`

// secrets are what nobody is to read, wherever a text has it. The first group stays.
var secrets = []*regexp.Regexp{
	regexp.MustCompile(`(?i)(--?` + secretName + `["']?(?:\s*[=:,]\s*|\s+))` + secretValue), // a flag, also in a list of arguments
	regexp.MustCompile(`(?i)(` + secretName + `(?:=|["']\s*:\s*))` + secretValue),           // a variable, a parameter, a key of JSON
	regexp.MustCompile(`(?i)(\b(?:bearer|basic)\s+)[a-z0-9._~+/=-]{8,}`),
	regexp.MustCompile(`([a-zA-Z][a-zA-Z0-9+.-]*://)[^\s/@]+@`),
}

// suspects are what a text has one of in which one of the secrets is.
var suspects = append([]string{"bearer", "basic", "://"}, secretWords...)

// suspect reports whether a text may have one of the secrets: to look for these takes thirty times
// as long, and of the texts of a node with many changes most are errors without one.
func suspect(s string) bool {
	s = strings.ToLower(strings.ToUpper(s)) // as (?i) folds: ſ is an s
	return slices.ContainsFunc(suspects, func(word string) bool { return strings.Contains(s, word) })
}

// What stands after -p is a password, as mysql, sshpass and docker login have it, unless it can only
// be something else: a port, as of ssh, a protocol, as of iptables, or a path, as of mkdir.
var (
	afterP  = regexp.MustCompile(`((?:^|[\s"'\[,])-p(?:["',=]+\s*["']?|\s+["']?)?)([^\s"']+)`)
	noneOfP = regexp.MustCompile(`^(?:\d{1,5}(?::\d{1,5})*(?:/\w+)?|tcp|udp|icmp|sctp|all|~?\.{0,2}/.*)[,;:\])]*$`)
	clients = regexp.MustCompile(`(?i)mysql|mariadb|mongo|sshpass|login|password`) // with which it is always one
)

func withoutPasswords(s string) string {
	always := clients.MatchString(s)
	return afterP.ReplaceAllStringFunc(s, func(both string) string {
		flag := afterP.FindStringSubmatch(both)[1]
		if !always && noneOfP.MatchString(both[len(flag):]) {
			return both
		}
		return flag + "***"
	})
}

func withoutSecrets(s string) string {
	if !strings.ContainsAny(s, "=: \"',") && !strings.HasPrefix(s, "-p") { // as most: names and ids
		return s
	}
	if suspect(s) {
		s = secretsReplaced(s)
	}
	if strings.Contains(s, "-p") {
		return withoutPasswords(s)
	}
	return s
}

func secretsReplaced(s string) string {
	for _, secret := range secrets {
		s = secret.ReplaceAllString(s, "${1}***")
	}
	return s
}

// A scrubber replaces the names of pods, their namespaces, images and the node by pseudonyms,
// wherever a text has one: the same by the same for as long as the salt is.
type scrubber struct {
	salt  []byte
	names map[string]string   // with their pseudonyms
	by    map[string][]string // the names that begin with a run of letters and digits, the longest first

	spaces map[string]string // namespaces with theirs
}

// newScrubber returns a scrubber with that salt; with one of its own if it is empty.
func newScrubber(salt string) *scrubber {
	s := &scrubber{salt: []byte(salt), names: make(map[string]string), by: make(map[string][]string), spaces: make(map[string]string)}
	if salt == "" {
		s.salt = make([]byte, 16)
		_, _ = rand.Read(s.salt) // never fails
	}
	return s
}

// pseudonym returns that of a name, and knows the name from then on.
func (s *scrubber) pseudonym(kind, name string) string {
	if name == "" {
		return ""
	}
	if known := s.names[name]; known != "" {
		return known
	}
	made := s.made(kind, name)
	s.know(name, made)
	return made
}

// made returns the pseudonym of a name.
func (s *scrubber) made(kind, name string) string {
	sum := hmac.New(sha256.New, s.salt)
	sum.Write([]byte(name))
	return kind + "-" + hex.EncodeToString(sum.Sum(nil)[:5])
}

// know has a name be replaced from then on, wherever a text has it.
func (s *scrubber) know(name, made string) {
	s.names[name] = made
	first := name[:runOf(name)]
	s.by[first] = append(s.by[first], name)
	slices.SortFunc(s.by[first], func(a, b string) int { return cmp.Compare(len(b), len(a)) })
}

// everybodys are the namespaces that say nothing of whose node it is.
var everybodys = regexp.MustCompile(`^(?:default|(?:kube|openshift)-.*)?$`)

// pod knows a pod from then on, and its namespace: that is often a plain word, such as web, and so
// is replaced where it is the whole text, or stands where namespaces stand, and nowhere else.
func (s *scrubber) pod(namespace, name string) {
	pod := s.pseudonym("pod", name)
	if everybodys.MatchString(namespace) || s.names[namespace+"/"+name] != "" {
		return
	}
	ns := s.made("namespace", namespace)
	s.spaces[namespace] = ns
	for _, between := range []string{"/", "_"} {
		s.know(namespace+between+name, ns+between+pod)
	}
	for _, before := range []string{`"`, "namespace=", "NAMESPACE=", "namespace:", "namespace "} {
		s.know(before+namespace, before+ns)
	}
}

// image knows an image from then on, also without its tag or digest.
func (s *scrubber) image(name string) {
	s.pseudonym("image", name)
	if i := strings.LastIndexAny(name, ":@"); i > strings.LastIndexByte(name, '/') && name[:i] != "sha256" {
		s.image(name[:i])
	}
}

// learn takes the names in a value, before that is written.
func (s *scrubber) learn(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			s.learn(v.Elem())
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			s.learn(v.Index(i))
		}
	case reflect.Map:
		for _, of := range v.Seq2() {
			s.learn(of)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[pleg.PodRef]() {
			s.pod(v.FieldByName("Namespace").String(), v.FieldByName("Name").String())
			return
		}
		for f, of := range v.Fields() {
			if f.Name == "Image" && of.Kind() == reflect.String {
				s.image(of.String())
			} else if f.IsExported() {
				s.learn(of)
			}
		}
	}
}

// replacer returns what is written in the place of a text. It may be called of nil, which
// takes away secrets alone.
func (s *scrubber) replacer() func(string) string {
	if s == nil {
		return withoutSecrets
	}
	return func(text string) string {
		if made := s.spaces[text]; made != "" {
			return made
		}
		return withoutSecrets(s.replace(text))
	}
}

// replace replaces each name that a text has, but where it is part of a longer run of letters
// and digits.
func (s *scrubber) replace(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		n := runOf(text)
		if name := s.begins(text, n); name != "" {
			b.WriteString(s.names[name])
			text = text[len(name):]
			continue
		}
		n = max(n, 1)
		b.WriteString(text[:n])
		text = text[n:]
	}
	return b.String()
}

// begins returns the longest name that a text begins with, whose first run is so long.
func (s *scrubber) begins(text string, first int) string {
	for _, name := range s.by[text[:first]] {
		if strings.HasPrefix(text, name) && (runOf(name[len(name)-1:]) == 0 || runOf(text[len(name):]) == 0) {
			return name
		}
	}
	return ""
}

// runOf returns how many letters and digits a text begins with.
func runOf(text string) int {
	for i := range len(text) {
		if c := text[i]; (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') {
			return i
		}
	}
	return len(text)
}
