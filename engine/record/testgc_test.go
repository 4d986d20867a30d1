package record

import _ "github.com/plegtop/plegtop/engine/testgc" // less garbage collection
