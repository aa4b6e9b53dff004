//go:build gc && go1.26 && !go1.28

package early

import _ "unsafe" // for go:linkname

// setGCPercent is what debug.SetGCPercent calls. An import of runtime/debug would delay
// this package until Chroma has initialized.
//
//go:linkname setGCPercent runtime/debug.setGCPercent
func setGCPercent(percent int32) int32
