package diagnose

import "slices"

// The words of a [Headline], the calmest first. They are a contract of all views and of the JSON.
const (
	Healthy         = "HEALTHY"
	Starting        = "STARTING"
	PausedWord      = "PAUSED"
	Degraded        = "DEGRADED"
	NotAllSeen      = "NOT ALL SEEN"
	NoList          = "NO LIST"
	MaybeSlow       = "SLOW?"
	Slow            = "SLOW"
	AtRisk          = "AT RISK"
	SocketLost      = "SOCKET LOST"
	InspectionHangs = "INSPECTION HANGS"
	ListsHang       = "LISTS HANG"
	ListsFail       = "LISTS FAIL"
	StatusHangs     = "STATUS HANGS"
	StatusFails     = "STATUS FAILS"
	NotAnswering    = "NOT ANSWERING"
	RuntimeIsDown   = "RUNTIME DOWN"
	LoopStopped     = "LOOP STOPPED"
	Unhealthy       = "UNHEALTHY"
	NotReady        = "NOT READY"
	KubeletIsGone   = "KUBELET GONE"
	KubeletIsStuck  = "KUBELET STUCK"
)

// A HeadWord is a word of a [Headline] and its meaning.
type HeadWord struct {
	Word    string
	Meaning string
}

// HeadWords returns all words that a headline can begin with, the calmest first.
func HeadWords() []HeadWord { return headWords }

var headWords = []HeadWord{
	{Healthy, "nothing is wrong: the runtime answers, lists are fresh, PLEG is healthy"},
	{Starting, "plegtop waits for the first list"},
	{PausedWord, "the relist is paused: the node is not judged"},
	{Degraded, "the node stays Ready, and something on it is wrong"},
	{NotAllSeen, "of check, or of lists with entries without an id: not every object was asked for"},
	{NoList, "of check: no list was answered in time"},
	{MaybeSlow, "one call is late"},
	{Slow, "all calls, or those of the relist, are slow"},
	{AtRisk, "the node is Ready, and will not be if this goes on"},
	{SocketLost, "the runtime's socket is gone: only connections that are open already work"},
	{InspectionHangs, "the status call of one pod hangs: no relist ends before its deadline, and events are late"},
	{ListsHang, "a list call hangs: PLEG becomes unhealthy"},
	{ListsFail, "a list call fails each time: PLEG becomes unhealthy"},
	{StatusHangs, "the runtime's Status hangs: the node becomes NotReady"},
	{StatusFails, "the runtime's Status fails: the node becomes NotReady"},
	{NotAnswering, "the runtime is there and answers nothing"},
	{RuntimeIsDown, "nobody answers at the runtime's socket"},
	{LoopStopped, "the kubelet starts and stops no pod, and has not posted NotReady yet"},
	{Unhealthy, "the kubelet calls its PLEG unhealthy"},
	{NotReady, "the kubelet has posted NotReady"},
	{KubeletIsGone, "the node had a kubelet, and it is not there"},
	{KubeletIsStuck, "the kubelet is there and does nothing"},
}

// wordRank returns the place of a word in the table; -1 for an unknown word.
func wordRank(word string) int {
	return slices.IndexFunc(headWords, func(w HeadWord) bool { return w.Word == word })
}

// What a headline says about the node's Ready condition.
const (
	NodeReadyNow   = "ready"        // it is Ready, and nothing says that it will not be
	NodeNotReadyIn = "not ready in" // it is Ready, and will become NotReady when the clock has run out
	NodeNotReady   = "not ready"    // NotReady is posted
)

// nodeWord returns what a headline with that clock says about the Ready condition; empty while that is not known.
func (f *Facts) nodeWord(c Clock) string {
	switch {
	case f.Paused || !f.Node.Known || f.once():
		return ""
	case !f.Node.Ready:
		return NodeNotReady
	case c.What == ClockUnhealthy || c.What == ClockNotReady:
		return NodeNotReadyIn
	}
	return NodeReadyNow
}
