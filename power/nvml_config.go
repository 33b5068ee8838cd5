package power

// NVMLConfig says how to read through NVIDIA's management library.
type NVMLConfig struct {
	// Clock is the recording's. Required.
	Clock Clock
	// LibraryPath is the shared library; "" means libnvidia-ml.so.1 where the
	// loader finds it.
	LibraryPath string
}
