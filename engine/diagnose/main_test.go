package diagnose

import (
	"os"
	"testing"
	"time"
)

// Texts have the local time.
func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}
