//go:build race

package sendform

const raceDetector = true
