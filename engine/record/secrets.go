package record

import (
	"regexp"
	"slices"
	"strings"
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

// withoutSecrets returns a text in which *** replaces what looks like a secret: values of flags and
// variables that are named like one, bearer tokens, passwords behind -p, users in URLs.
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
