//go:build linux && cgo

package power

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
)

// nvmlReason maps a return code. SUCCESS is "".
func nvmlReason(ret nvml.Return) Reason {
	switch ret {
	case nvml.SUCCESS:
		return ""
	case nvml.ERROR_LIBRARY_NOT_FOUND, nvml.ERROR_DRIVER_NOT_LOADED:
		return NoDriver
	case nvml.ERROR_LIB_RM_VERSION_MISMATCH, nvml.ERROR_ARGUMENT_VERSION_MISMATCH:
		return DriverMismatch
	case nvml.ERROR_NO_PERMISSION:
		return NoPermission
	case nvml.ERROR_NOT_SUPPORTED, nvml.ERROR_DEPRECATED, nvml.ERROR_INVALID_ARGUMENT:
		return NotSupported
	case nvml.ERROR_FUNCTION_NOT_FOUND:
		return SymbolMissing
	case nvml.ERROR_GPU_IS_LOST, nvml.ERROR_RESET_REQUIRED, nvml.ERROR_GPU_NOT_FOUND:
		return GPULost
	case nvml.ERROR_NOT_FOUND, nvml.ERROR_NO_DATA, nvml.ERROR_NOT_READY:
		return NoData
	case nvml.ERROR_TIMEOUT:
		return Timeout
	case nvml.ERROR_UNINITIALIZED:
		return Closed
	default:
		return OtherError
	}
}

// nvmlError names a return code. The library's own text is not asked for: its
// function may be missing or, before a successful start, end the process. A
// Return is a non-nil error even for SUCCESS, so it is not wrapped either.
func nvmlError(ret nvml.Return) error { return fmt.Errorf("nvml returned %d", int(ret)) }

// nvmlRequired are the functions called without asking.
func nvmlRequired() []string {
	return []string{
		"nvmlInit_v2", "nvmlShutdown", "nvmlSystemGetDriverVersion",
		"nvmlDeviceGetCount_v2", "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetUUID", "nvmlDeviceGetName",
	}
}

// The functions that a driver may lack.
const (
	symFields      = "nvmlDeviceGetFieldValues"
	symPower       = "nvmlDeviceGetPowerUsage"
	symEnergy      = "nvmlDeviceGetTotalEnergyConsumption"
	symSamples     = "nvmlDeviceGetSamples"
	symUtilization = "nvmlDeviceGetUtilizationRates"
	symMemory      = "nvmlDeviceGetMemoryInfo"
	symMemory2     = "nvmlDeviceGetMemoryInfo_v2"
	symClock       = "nvmlDeviceGetClockInfo"
	symMaxClock    = "nvmlDeviceGetMaxClockInfo"
	symTemperature = "nvmlDeviceGetTemperature"
	symEvent       = "nvmlDeviceGetCurrentClocksEventReasons"
	symThrottle    = "nvmlDeviceGetCurrentClocksThrottleReasons"
	symProcesses   = "nvmlDeviceGetComputeRunningProcesses"
	symMIG         = "nvmlDeviceGetMigMode"
	symCapability  = "nvmlDeviceGetCudaComputeCapability"
	symGPMSupport  = "nvmlGpmQueryDeviceSupport"
	symGPMAlloc    = "nvmlGpmSampleAlloc"
	symGPMFree     = "nvmlGpmSampleFree"
	symGPMGet      = "nvmlGpmSampleGet"
	symGPMMetrics  = "nvmlGpmMetricsGet"
	symPCI         = "nvmlDeviceGetPciInfo_v3"
	symVBIOS       = "nvmlDeviceGetVbiosVersion"
	symLimit       = "nvmlDeviceGetPowerManagementLimit"
	symDefault     = "nvmlDeviceGetPowerManagementDefaultLimit"
	symConstraints = "nvmlDeviceGetPowerManagementLimitConstraints"
	symEnforced    = "nvmlDeviceGetEnforcedPowerLimit"
	symECC         = "nvmlDeviceGetEccMode"
	symPersistence = "nvmlDeviceGetPersistenceMode"
	symBusWidth    = "nvmlDeviceGetMemoryBusWidth"
	symLinkGen     = "nvmlDeviceGetCurrPcieLinkGeneration"
	symLinkGenMax  = "nvmlDeviceGetMaxPcieLinkGeneration"
	symLinkWidth   = "nvmlDeviceGetCurrPcieLinkWidth"
	symLinkWideMax = "nvmlDeviceGetMaxPcieLinkWidth"
	symVirtual     = "nvmlDeviceGetVirtualizationMode"
)

// nvmlOptional lists them: each is looked up once, and called only if found.
func nvmlOptional() []string {
	return []string{
		symFields, symPower, symEnergy, symSamples, symUtilization, symMemory, symMemory2, symClock, symMaxClock,
		symTemperature, symEvent, symThrottle, symProcesses, symMIG, symCapability,
		symGPMSupport, symGPMAlloc, symGPMFree, symGPMGet, symGPMMetrics,
		symPCI, symVBIOS, symLimit, symDefault, symConstraints, symEnforced, symECC, symPersistence, symBusWidth,
		symLinkGen, symLinkGenMax, symLinkWidth, symLinkWideMax, symVirtual,
	}
}

// ask calls f if the library has its symbol, and returns why there is no value.
func (m *nvmlMeter) ask(symbol string, f func() nvml.Return) Reason {
	if !m.symbols[symbol] {
		return SymbolMissing
	}
	return nvmlReason(f())
}

// nvmlValue decodes the eight bytes of a value by its type.
func nvmlValue(kind nvml.ValueType, b [8]byte) (float64, bool) {
	bits := binary.LittleEndian.Uint64(b[:])
	switch kind {
	case nvml.VALUE_TYPE_DOUBLE:
		v := math.Float64frombits(bits)
		return v, !math.IsNaN(v) && !math.IsInf(v, 0)
	case nvml.VALUE_TYPE_UNSIGNED_INT:
		return float64(uint32(bits)), true
	case nvml.VALUE_TYPE_UNSIGNED_LONG, nvml.VALUE_TYPE_UNSIGNED_LONG_LONG:
		return float64(bits), true
	case nvml.VALUE_TYPE_SIGNED_LONG_LONG:
		return float64(int64(bits)), true
	case nvml.VALUE_TYPE_SIGNED_INT:
		return float64(int32(bits)), true
	case nvml.VALUE_TYPE_UNSIGNED_SHORT:
		return float64(uint16(bits)), true
	default:
		return 0, false
	}
}

// permanent tells the reasons that will not change while the driver runs, so
// that the call is not repeated.
func permanent(why Reason) bool { return why == NotSupported || why == SymbolMissing }
