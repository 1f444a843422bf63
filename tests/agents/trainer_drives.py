"""How trainer_packages.py drives each package: trainer_drives.py PACKAGE ADDRESS, in a Python that has it."""

import asyncio
import contextlib
import http.server
import json
import sys
import tempfile
import threading
import traceback
from pathlib import Path
from types import SimpleNamespace

ROOT = Path(__file__).resolve().parents[2]
PROBLEM = "37x53x71"
PROMPT = "Write a kernel.\n"


def fenced(name):
    return "Here it is.\n```\n" + (ROOT / "tests" / f"{name}.cu").read_text() + "```\n"


NO_CODE, BROKEN = "I cannot.", fenced("broken_kernels/code_does_not_compile")
UNTIMED = fenced("honest_kernels/naive")  # right, so that only a GPU could give it a reward
REWARDS = {NO_CODE: -1.0, BROKEN: -0.9}


def equal(found, expected):
    assert found == expected, f"{found!r} is not {expected!r}"


def refused(words, call):
    """That the call fails with these words; it gives no reward."""
    try:
        reward = call()
    except Exception:
        assert words in traceback.format_exc(), traceback.format_exc()
    else:
        raise AssertionError(f"no error, but {reward!r}")


@contextlib.contextmanager
def serving(answer):
    """A server of HTTP whose POSTs are answered by answer(body) -> (status, headers, body)."""
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            status, headers, body = answer(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()


def byte_tokenizer():
    """A token is a byte."""
    import tokenizers
    import transformers
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    model = tokenizers.Tokenizer(tokenizers.models.BPE({letter: i for i, letter in enumerate(alphabet)}, []))
    model.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    model.decoder = tokenizers.decoders.ByteLevel()
    return transformers.PreTrainedTokenizerFast(tokenizer_object=model, pad_token="<pad>", eos_token="<eos>")


def drive_service(service):
    from gemmsmith_service import rewards_of
    equal(rewards_of([PROBLEM] * 2, REWARDS, service), [(reward, False) for reward in REWARDS.values()])
    refused("503", lambda: rewards_of([PROBLEM] * 2, [NO_CODE, UNTIMED], service))
    refused("400", lambda: rewards_of(["no problem"], [NO_CODE], service))
    answers = [(429, {"Retry-After": "0"}, b""), (200, {}, b'{"rewards": [1.5], "extra_logs": {"passed": [1.0]}}')]
    with serving(lambda _: answers.pop(0)) as busy:
        equal(rewards_of([PROBLEM], [BROKEN], busy), [(1.5, True)])
    refused("start gemmsmith serve", lambda: rewards_of([PROBLEM], [BROKEN], busy))
    for body in (b"<html>", b"{}", b'{"rewards": [NaN], "extra_logs": {"passed": [0.0]}}', b'{"rewards": [null]}'):
        with serving(lambda _: (200, {}, body)) as other:
            refused("ServiceError", lambda: rewards_of([PROBLEM], [BROKEN], other))
    seen = []
    with serving(lambda body: (seen.append(body), (401, {}, b"no token"))[1]) as closed:
        refused("401: no token", lambda: rewards_of([PROBLEM], [BROKEN], closed, "word"))
    equal(len(seen), 1)


def drive_verl(service):
    import torch
    import verl
    from omegaconf import OmegaConf
    from verl.trainer.ppo.reward import load_reward_manager
    config = OmegaConf.create(
        {"reward": OmegaConf.load(Path(verl.__file__).parent / "trainer/config/reward/reward.yaml")})
    config.reward.custom_reward_function = {
        "path": str(ROOT / "trainers/verl_reward.py"), "name": "compute_score", "reward_kwargs": {"service": service}}
    tokenizer = byte_tokenizer()
    manager = load_reward_manager(config, tokenizer)

    def run(text):
        response = torch.tensor([tokenizer(text).input_ids])
        row = {"data_source": ["gemm"], "reward_model": [{"ground_truth": PROBLEM}], "extra_info": [{}]}
        data = verl.DataProto.from_dict({"responses": response, "attention_mask": torch.ones_like(response)}, row)
        return manager.loop.run_until_complete(manager.run_single(data))

    for text, reward in REWARDS.items():
        equal(run(text), {"reward_score": reward, "reward_extra_info": {"score": reward, "acc": 0.0}})
    refused("503", lambda: run(UNTIMED))


def drive_trl(service):
    import datasets
    import torch
    import transformers
    import trl
    from trl_reward import reward_function
    tokenizer = byte_tokenizer()
    model = transformers.LlamaForCausalLM(transformers.LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=8, intermediate_size=8, num_hidden_layers=1, num_attention_heads=1))
    rows = [{"prompt": PROMPT, "problem": PROBLEM}] * 2
    with tempfile.TemporaryDirectory() as folder:
        config = trl.GRPOConfig(folder, use_cpu=True, bf16=False, max_steps=1, per_device_train_batch_size=2,
                                num_generations=2, max_completion_length=4, report_to="none", save_strategy="no",
                                logging_steps=1)
        trainer = trl.GRPOTrainer(model, reward_function(service), config, datasets.Dataset.from_list(rows),
                                  processing_class=tokenizer)
        trainer.train()
    step = trainer.state.log_history[0]
    equal((step["rewards/gemmsmith/mean"], step["gemmsmith/passed"]), (REWARDS[NO_CODE], 0.0))

    def rewards(completions):
        return trainer._calculate_rewards(rows, [PROMPT] * 2, completions, [[1]] * 2)

    expected = torch.tensor(list(REWARDS.values())).reshape(2, 1)
    assert torch.equal(rewards(list(REWARDS)), expected), rewards(list(REWARDS))
    messages = [[{"role": "assistant", "content": text}] for text in REWARDS]
    assert torch.equal(rewards(messages), expected), rewards(messages)
    refused("503", lambda: rewards([UNTIMED, NO_CODE]))


def drive_openrlhf(service):
    from openrlhf.utils.agent import SingleTurnAgentExecutor
    tokenizer = byte_tokenizer()

    def run(text, prompt=PROMPT, max_tokens=None):
        async def generate(*_, **__):
            ids = tokenizer(text).input_ids + [tokenizer.eos_token_id]
            return SimpleNamespace(outputs=[SimpleNamespace(token_ids=ids, finish_reason="stop", logprobs=None)])

        executor = SingleTurnAgentExecutor(service + "/get_reward")
        answer = asyncio.run(executor.execute(prompt, PROBLEM, SimpleNamespace(max_tokens=max_tokens, logprobs=None),
                                              2000, tokenizer, SimpleNamespace(generate=generate)))
        return answer["reward"], answer["scores"], answer["extra_logs"]

    for text, reward in REWARDS.items():
        equal(run(text), ([reward], [reward], {"passed": [0.0]}))
    equal(run(UNTIMED), (None, None, {}))
    cut = "0" * 2000 + BROKEN  # OpenRLHF cuts long prompts at their beginning
    equal(run(NO_CODE, prompt=cut, max_tokens=100), (None, None, {}))


def responses_object(text):
    """What a model's server answers in OpenAI's Responses API."""
    part = {"type": "output_text", "text": text, "annotations": []}
    message = {"id": "m", "type": "message", "role": "assistant", "status": "completed", "content": [part]}
    return {"id": "r", "created_at": 0, "model": "none", "object": "response", "output": [message],
            "parallel_tool_calls": False, "tool_choice": "auto", "tools": []}


def drive_nemo_gym(service):
    from nemo_gym.config_types import BaseServerConfig, ModelServerRef, ResourcesServerRef
    from nemo_gym.server_utils import GlobalAIOHTTPAsyncClientConfig, ServerClient, set_global_aiohttp_client
    from omegaconf import OmegaConf
    from responses_api_agents.simple_agent.app import SimpleAgent, SimpleAgentConfig, SimpleAgentRunRequest

    def place(address):
        host, port = address.split("//")[1].split(":")
        return {"host": host, "port": int(port)}

    async def run(texts):
        set_global_aiohttp_client(GlobalAIOHTTPAsyncClientConfig())
        model = lambda _: (200, {"Content-Type": "application/json"}, json.dumps(responses_object(texts[0])).encode())
        with serving(model) as agent_address:
            servers = {"gemm": {"resources_servers": {"gemmsmith": place(service)}},
                       "agent": {"responses_api_agents": {"simple_agent": place(agent_address)}}}
            client = ServerClient(head_server_config=BaseServerConfig(host="127.0.0.1", port=1),
                                  global_config_dict=OmegaConf.create(servers))
            config = SimpleAgentConfig(
                name="agent", entrypoint="", **place(agent_address),
                resources_server=ResourcesServerRef(type="resources_servers", name="gemm"),
                model_server=ModelServerRef(type="responses_api_models", name="model"))
            agent = SimpleAgent(config=config, server_client=client)
            row = {"responses_create_params": {"input": PROMPT}, "problem": PROBLEM, "kept": 7}
            answers = []
            for texts[0] in list(texts):
                request = SimpleAgentRunRequest.model_validate(row)
                answers.append((await agent.run(SimpleNamespace(cookies={}), request)).model_dump())
            return answers

    for answer, reward in zip(asyncio.run(run(list(REWARDS))), REWARDS.values()):
        equal((answer["reward"], answer["passed"], answer["kept"]), (reward, False, 7))
    refused("503", lambda: asyncio.run(run([UNTIMED])))


def drive_verifiers(service):
    import verifiers.v1 as vf
    from verifiers.v1.cli import validate
    from verifiers.v1.state import state_cls
    from verifiers.v1.tasksets.nemo_gym import NeMoGymTaskset
    from verifiers.v1.utils.loaders import taskset_config_type

    def run(task, text):
        prompt = vf.MessageNode(message=vf.UserMessage(content=PROMPT))
        answer = vf.MessageNode(parent=0, message=vf.AssistantMessage(content=text), sampled=True)
        trace = vf.Trace(task=vf.TraceTask(type=type(task).__name__, data=task.data), nodes=[prompt, answer],
                         agent=vf.AgentInfo(config=vf.AgentConfig()), state=state_cls(type(task))())

        async def score():
            await task.setup(trace, None)
            await task.score(trace)

        asyncio.run(score())
        return trace.reward, trace.metrics["passed"]

    config = {"id": "verifiers_taskset", "problems": [PROBLEM], "task": {"service": service}}
    [task] = vf.load_taskset(taskset_config_type("verifiers_taskset").model_validate(config))
    assert PROBLEM in task.data.prompt and "gemmsmith_descriptor_v1" in task.data.prompt, task.data.prompt
    with tempfile.TemporaryDirectory() as folder:
        row = {"problem": PROBLEM, "responses_create_params": {"input": PROMPT}}
        (Path(folder) / "rows.jsonl").write_text(json.dumps(row))
        config = {"dataset": f"{folder}/rows.jsonl", "task": {"resources_url": service}}
        [nemo_task] = NeMoGymTaskset(taskset_config_type("nemo_gym").model_validate(config))
        for one in (task, nemo_task):
            for text, reward in REWARDS.items():
                equal(run(one, text), (reward, 0.0))
            refused("503", lambda: run(one, UNTIMED))
        validate.main(["verifiers_taskset", "--taskset.problems", json.dumps([PROBLEM, "no"]), "--taskset.task.service",
                       service, "--runtime.type", "subprocess", "--no-rich", "-o", folder, "--run.dir", "run"])
        rows = map(json.loads, (Path(folder) / "run" / validate.RESULTS_FILE).read_text().splitlines())
        equal({row["name"]: row["reason"] for row in rows}, {PROBLEM: "valid", "no": "error"})


def drive_openenv(service):
    from openenv import GenericEnvClient

    async def run(*texts):
        async with GenericEnvClient(base_url=service) as environment:
            task = await environment.reset(problem=PROBLEM, episode_id="one", turns=len(texts))
            assert "gemmsmith_descriptor_v1" in task.observation["task"], task
            results = [await environment.step({"source": text}) for text in texts]
            return [(result.reward, result.done) for result in results], await environment.state()

    rewards, state = asyncio.run(run(*REWARDS))
    equal(rewards, list(zip(REWARDS.values(), [False, True])))
    equal((state["episode_id"], state["step_count"]), ("one", 2))
    refused("no reward", lambda: asyncio.run(run(UNTIMED)))


if __name__ == "__main__":
    globals()[f"drive_{sys.argv[1]}"](sys.argv[2])
