package record

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
)

// secret is an argument of a command that nobody is to read, wherever a text has one.
var secret = regexp.MustCompile(`(?i)(--?[a-z0-9-]*(?:token|passw|secret|api-?key|credential)[a-z0-9-]*[= ])("[^"]*"|'[^']*'|\S+)`)

func withoutSecrets(s string) string {
	if !strings.Contains(s, "-") {
		return s
	}
	return secret.ReplaceAllString(s, "${1}***")
}

// A scrubber replaces the names of pods, images and the node by pseudonyms, wherever a text has
// one: the same by the same in the whole recording, and by others in another one.
type scrubber struct {
	salt  []byte
	names map[string]string // with their pseudonyms
}

func newScrubber() *scrubber {
	s := &scrubber{salt: make([]byte, 16), names: make(map[string]string)}
	_, _ = rand.Read(s.salt) // never fails
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
	sum := hmac.New(sha256.New, s.salt)
	sum.Write([]byte(name))
	made := kind + "-" + hex.EncodeToString(sum.Sum(nil)[:5])
	s.names[name] = made
	return made
}

// learn takes the names in an entry, before that is written.
func (s *scrubber) learn(e *entry) {
	for i := range e.Sandboxes.New {
		s.pod(e.Sandboxes.New[i].Pod)
	}
	for i := range e.Containers.New {
		s.pod(e.Containers.New[i].Pod)
		s.pseudonym("image", e.Containers.New[i].Image)
	}
	switch in := e.In.(type) {
	case engine.Returned:
		if c := in.Answer.Container; c != nil {
			s.pseudonym("image", c.Image)
		}
	case engine.Streamed:
		for i := range in.Events {
			if st := in.Events[i].Status; st != nil {
				s.pod(st.PodRef)
			}
		}
	}
}

func (s *scrubber) pod(p pleg.PodRef) { s.pseudonym("pod", p.Name) }

// replacer returns what is written in the place of a text. It may be called of nil, which
// takes away secrets alone.
func (s *scrubber) replacer() func(string) string {
	if s == nil {
		return withoutSecrets
	}
	return func(text string) string { return withoutSecrets(s.replace(text)) }
}

// replace replaces a text that is a name, and each word of one that is.
func (s *scrubber) replace(text string) string {
	if known := s.names[text]; known != "" {
		return known
	}
	var b strings.Builder
	for len(text) > 0 {
		n := strings.IndexFunc(text, func(r rune) bool { return !inName(r) })
		if n < 0 {
			n = len(text)
		}
		if word := text[:n]; s.names[word] != "" {
			b.WriteString(s.names[word])
		} else {
			b.WriteString(word)
		}
		if text = text[n:]; text != "" {
			b.WriteByte(text[0])
			text = text[1:]
		}
	}
	return b.String()
}

// inName reports whether a character may be part of the name of a pod or node (RFC 1123).
func inName(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '.'
}
