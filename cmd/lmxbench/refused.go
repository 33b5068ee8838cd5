package main

const (
	measured   = "it would overwrite a measured value; the run measures it"
	secretArgv = "other users of this machine can read the command line; put the key into LMXBENCH_API_KEY or OPENAI_API_KEY, or into a file of mode 0600 and give --api-key-file FILE"
	localOnly  = "only servers that answer HTTP are measured; start the server and give --base-url"
)

// refusedOptions are options of lmx that run does not take, with the reason.
var refusedOptions = map[string]string{
	"batch-size": measured, "peak-vram-gb": measured, "input-len": measured, "output-len": measured,
	"output-tokens": measured, "num-prompts": measured, "tok-s-out": measured, "tok-s-prefill": measured,
	"tok-s-total": measured, "ttft-ms": measured,
	"model-api-key": secretArgv, "api-key": secretArgv,
	"command": localOnly, "results": localOnly,
	"submit":  "a result is checked before it goes out; use lmxbench payload submit",
	"profile": "give the options themselves; a hidden file must not change what a run measures",
}
