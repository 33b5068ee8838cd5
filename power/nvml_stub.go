//go:build !linux || !cgo

package power

import "errors"

// OpenNVML says that this binary has no NVML: it is built in on Linux with cgo
// only. The nvidia-smi meter is the way then.
func OpenNVML(NVMLConfig) (Meter, error) {
	return nil, &Error{Op: "open nvml", Reason: NoDriver, Err: errors.New("this binary was built without NVML (it needs linux and cgo)")}
}
