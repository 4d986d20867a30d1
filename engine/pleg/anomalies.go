package pleg

// Anomalies counts what a runtime's answers held that no healthy runtime
// sends. What had to be left out is counted as well as what could be mended, so
// that nothing is dropped in silence. The zero value counts nothing.
type Anomalies struct {
	NoMetadata  int // sandboxes or containers without metadata: left out, as the kubelet does
	NoID        int // without an id: left out
	NoImage     int // containers without an image: left out, as the kubelet does
	NoPodUID    int // without a pod's UID: left out, since nothing can own them
	DuplicateID int // the same id twice in one list and pod: both are kept, the first decides
	BadState    int // a state that CRI does not know: taken as Unknown
	BadTime     int // a negative time: taken as not given
	BadText     int // invalid UTF-8 in a text that is shown, or an address that is none
	NoSandbox   int // containers of a pod that has no sandbox listed: kept
}

// Add returns the sums of a and b.
func (a Anomalies) Add(b Anomalies) Anomalies {
	a.NoMetadata += b.NoMetadata
	a.NoID += b.NoID
	a.NoImage += b.NoImage
	a.NoPodUID += b.NoPodUID
	a.DuplicateID += b.DuplicateID
	a.BadState += b.BadState
	a.BadTime += b.BadTime
	a.BadText += b.BadText
	a.NoSandbox += b.NoSandbox
	return a
}

// Total returns the sum of all counters.
func (a Anomalies) Total() int {
	return a.NoMetadata + a.NoID + a.NoImage + a.NoPodUID + a.DuplicateID + a.BadState + a.BadTime + a.BadText + a.NoSandbox
}
