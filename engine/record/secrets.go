package record

import (
	"regexp"
	"slices"
	"strings"
)

// secretWords are parts of the names of secrets.
var secretWords = []string{"token", "passw", "passphrase", "pwd", "secret", "api-key", "api_key", "apikey", "access-key", "access_key", "accesskey", "credential"}

var secretName = `[a-z0-9_-]*(?:` + strings.Join(secretWords, "|") + `)[a-z0-9_-]*`

// secretValue is a text in quotes, or all up to the next space or quote.
const secretValue = `(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s"']+)`

// secrets are the texts that nobody is to read, wherever they are. The first group of a match stays.
var secrets = []*regexp.Regexp{
	regexp.MustCompile(`([a-zA-Z][a-zA-Z0-9+.-]*://)(?:[^\s/]*@|[^\s/@:]+:[^\s"']*@)`),      // a user in a URL, and a password: both may have @ in them, and a password / as well
	regexp.MustCompile(`(?i)(--?` + secretName + `["']?(?:\s*[=:,]\s*|\s+))` + secretValue), // a flag, also in a list of arguments
	regexp.MustCompile(`(?i)(` + secretName + `["']\s*:\s*)` + secretValue),                 // a key of JSON
	regexp.MustCompile(`(?im)(^[\s-]*` + secretName + `:\s+)` + secretValue),                // a line of YAML
	regexp.MustCompile(`(?i)(\b(?:bearer|basic)\s+)[a-z0-9._~+/=-]{8,}`),
}

// parameter is a variable or a parameter. It may be one of several, as in a=b,c=d or ?a=b&c=d: then
// it ends at nextField. Any other , ; or & may be a part of the secret.
var (
	parameter = regexp.MustCompile(`(?i)(` + secretName + `=)` + secretValue)
	nextField = regexp.MustCompile(`[,;&][A-Za-z][\w.-]*=.*`)
)

// suspects are words: a text with a secret has at least one of them.
var suspects = append([]string{"bearer", "basic", "://"}, secretWords...)

// suspect reports whether a text may have a secret. A search for the secrets themselves takes
// thirty times as long, and on a node with many changes most texts are errors without a secret.
func suspect(s string) bool {
	s = strings.ToLower(strings.ToUpper(s)) // as (?i) folds: ſ is an s
	return slices.ContainsFunc(suspects, func(word string) bool { return strings.Contains(s, word) })
}

// The text after -p is a password, as for mysql, sshpass and docker login, unless it can only be
// something else: a port, as for ssh, a protocol, as for iptables, or a path, as for mkdir.
var (
	afterP  = regexp.MustCompile(`((?:^|[\s"'\[,])-p(?:["',=]+\s*["']?|\s+["']?)?)([^\s"']+)`)
	noneOfP = regexp.MustCompile(`^(?:\d{1,5}(?::\d{1,5})*(?:/\w+)?|tcp|udp|icmp|sctp|all|~?\.{0,2}/.*)[,;:\])]*$`)
	clients = regexp.MustCompile(`(?i)mysql|mariadb|mongo|sshpass|login|password`) // then always a password
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

// withoutSecrets returns a text with *** in the place of everything that looks like a secret:
// values of flags and variables that are named like one, bearer tokens, passwords behind -p, users
// in URLs.
func withoutSecrets(s string) string {
	if !strings.ContainsAny(s, "=: \"',") && !strings.HasPrefix(s, "-p") { // like most texts: names and ids
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
	return parameter.ReplaceAllStringFunc(s, func(match string) string {
		name, value, _ := strings.Cut(match, "=")
		rest := ""
		if !strings.ContainsAny(value[:1], `"'`) {
			rest = nextField.FindString(value)
		}
		return name + "=***" + rest
	})
}
