"""Questions about Ortler: what it is, its endpoints, its request parameters, its commands."""

import random

from .common import ask, vary

SKILL = "project"

# Each entry: the ways to ask, then the one answer.
TOPICS = [
    (["What is Ortler?", "Tell me about Ortler.", "Explain Ortler.", "What does Ortler do?", "What is Ortler for?", "Describe Ortler.", "What kind of software is Ortler?", "What's Ortler?", "Can you explain what Ortler is?", "What is this project?", "What is this service?"], "Ortler is an LLM inference engine on ONNX Runtime, written in TypeScript, with REST and tRPC APIs around it."),
    (["In which language is Ortler written?", "What language is Ortler written in?", "Which programming language does Ortler use?", "Is Ortler written in Python?", "What is Ortler written in?"], "Ortler is written in TypeScript."),
    (["Which runtime does Ortler use?", "What runs the models in Ortler?", "What is Ortler built on?", "Which runtime executes the models?", "Does Ortler use ONNX Runtime?", "On which runtime does Ortler run models?"], "Ortler runs models on ONNX Runtime."),
    (["Which APIs does Ortler offer?", "What APIs does Ortler have?", "How can I talk to Ortler?", "Does Ortler have a REST API?", "Does Ortler offer tRPC?", "Which interfaces does Ortler have?"], "Ortler offers its API over REST and over tRPC."),
    (["Is Ortler compatible with OpenAI?", "Can I use OpenAI clients with Ortler?", "Is the API OpenAI compatible?", "Does Ortler follow the OpenAI format?", "Is Ortler compatible with vLLM?"], "Yes, the chat API follows the OpenAI wire format and accepts the extra parameters of vLLM."),
    (["What is the default port?", "Which port does Ortler use?", "On which port does the server listen?", "What port does the server run on?", "Which port is the default?", "Where does the server listen?", "What is the address of the server?", "What is the port of Ortler?"], "The server listens on 127.0.0.1, port 8000."),
    (["How do I start Ortler?", "How do I start the server?", "Which command starts the server?", "How can I run Ortler?", "What starts the server?", "How to start Ortler?", "How do I launch the server?", "How do I run the server?", "Start command?"], "Run npm start. It serves the demo model on port 8000."),
    (["How do I run the tests?", "Which command runs the tests?", "How can I test Ortler?", "How do I test the project?", "What runs the test suite?", "How to run the tests?", "How do I start the tests?", "Test command?"], "Run npm test."),
    (["What do I need to run Ortler?", "What are the requirements?", "Which Node version do I need?", "What must be installed?", "Does Ortler need Python?", "What do I have to install?"], "You need Node.js 20 or newer and npm, nothing else."),
    (["Which model does a fresh clone use?", "What is the demo model?", "Which model is the default?", "What is models/demo?", "Which model is included?"], "The demo model in models/demo: a small chat model with about five million parameters."),
    (["Which model formats does Ortler accept?", "What models can Ortler load?", "Which models can I use?", "Can Ortler load Hugging Face models?", "What model folders are accepted?"], "Ortler loads Hugging Face folders with safetensors and folders with ONNX models."),
    (["Which endpoints are there?", "List the endpoints.", "What endpoints does the API have?", "Which endpoints does Ortler have?", "Show me all endpoints.", "What are the endpoints?", "Name the endpoints."], "POST /v1/chat/completions, GET /v1/models, POST /v1/preview/models/{model_id}/log, GET /v1/preview/models/{model_id}/checkpoints, POST /feedback/payload_schema and POST /feedback/query."),
    (["Which endpoint is for chat?", "How do I send a chat message?", "Which endpoint completes a chat?", "What is the chat endpoint?", "Where do I send chat messages?", "What does POST /v1/chat/completions do?", "What does /v1/chat/completions do?", "How do I chat over the API?", "Which path serves chat completions?"], "POST /v1/chat/completions takes a list of messages and returns the generated answer."),
    (["Which endpoint lists the models?", "How do I list the models?", "How can I see all models?", "What does GET /v1/models do?", "What does /v1/models do?", "Where do I find the model IDs?", "How do I get the model list?", "Which path lists models?"], "GET /v1/models lists the models that can be used."),
    (["How do I log trajectories?", "Which endpoint logs trajectories?", "Where do I send trajectories?", "What does POST /v1/preview/models/{model_id}/log do?", "What does the log endpoint do?", "How can I record trajectories?", "Which endpoint records rewards?"], "POST /v1/preview/models/{model_id}/log records groups of trajectories for a model."),
    (["How do I list checkpoints?", "Which endpoint lists checkpoints?", "Where can I see the checkpoints?", "What does GET /v1/preview/models/{model_id}/checkpoints do?", "What does the checkpoints endpoint do?", "How do I get the checkpoints of a model?"], "GET /v1/preview/models/{model_id}/checkpoints lists the checkpoints of a model, page by page."),
    (["What does POST /feedback/payload_schema do?", "What does /feedback/payload_schema do?", "How do I discover the payload schema?", "Which endpoint shows the payload schema?", "What is the payload schema endpoint for?", "How do I find the paths in feedback payloads?"], "POST /feedback/payload_schema lists the paths and value types found in feedback payloads."),
    (["What does POST /feedback/query do?", "What does /feedback/query do?", "How do I query feedback?", "Which endpoint returns feedback?", "How can I read feedback?", "Which endpoint searches feedback?", "How do I search feedback records?"], "POST /feedback/query returns feedback records, with filters, sorting and paging."),
    (["How do I authenticate?", "Which authentication does the API use?", "What kinds of authentication are there?", "How does authentication work?", "Which auth schemes are used?", "How do I log in to the API?", "What auth do I need?"], "Chat, models and preview endpoints use a bearer token; feedback endpoints use basic authentication."),
    (["Which authentication does chat use?", "How do I authenticate for chat?", "What auth do the model endpoints use?", "Where do I put the API key?", "How do I send my API key?", "Which header carries the API key?"], "Send the header Authorization: Bearer with your API key."),
    (["Which authentication do feedback endpoints use?", "How do I authenticate for feedback?", "What auth does /feedback/query need?", "Which header do feedback endpoints need?"], "Feedback endpoints use basic authentication: username and password."),
    (["What is a checkpoint?", "What is in a checkpoint?", "Which fields does a checkpoint have?", "Explain checkpoints."], "A checkpoint is a saved training state with an id, a step and metrics."),
    (["What is a trajectory?", "What is in a trajectory?", "Which fields does a trajectory have?", "Explain trajectories."], "A trajectory is a list of messages and choices with a reward and metrics."),
    (["Where is the data stored?", "Which database does Ortler use?", "What is the default database?", "Does Ortler use SQLite?", "Where does Ortler store data?"], "By default in SQLite under .ortler; PostgreSQL and ClickHouse can be used too."),
    (["What is ONNX?", "What is ONNX Runtime?", "Explain ONNX Runtime.", "What does ONNX Runtime do?"], "ONNX Runtime is a library that executes neural networks stored in the ONNX format."),
    (["What is tRPC?", "Explain tRPC.", "What does tRPC do?"], "tRPC lets TypeScript programs call a server with full types."),
    (["What is REST?", "Explain REST.", "What is a REST API?"], "REST is a style of web APIs that uses HTTP methods and paths."),
    (["What is an LLM?", "Explain LLMs.", "What does LLM mean?", "What does LLM stand for?", "What is a large language model?"], "An LLM is a large language model: a neural network that predicts the next token."),
    (["What is a token?", "Explain tokens.", "What are tokens?"], "A token is a piece of text, the unit that a language model reads and writes."),
    (["What is a tokenizer?", "Explain the tokenizer.", "What does a tokenizer do?"], "A tokenizer turns text into tokens and tokens into text."),
    (["What is an inference engine?", "Explain inference.", "What does an inference engine do?", "What is inference?"], "An inference engine runs a trained model to produce outputs."),
    (["What is a KV cache?", "Explain the KV cache.", "What does the KV cache do?", "What is the KV cache for?"], "The KV cache keeps the keys and values of earlier tokens, so that they are not computed again."),
    (["What is prefill?", "Explain prefill.", "What does prefill mean?"], "Prefill computes all prompt tokens before the first new token."),
    (["What is decoding?", "Explain decode.", "What does decode mean?", "What is decode?"], "Decode computes one new token at a time."),
    (["What is a prefix cache?", "Explain the prefix cache.", "What does the prefix cache do?"], "The prefix cache reuses computed tokens of prompts that begin alike."),
    (["What is structured output?", "Explain structured outputs.", "What are structured outputs?", "How do I force JSON output?", "How do I get JSON?"], "Structured outputs force the answer to match a JSON schema, a regex, a choice or a grammar."),
    (["What is the license of Ortler?", "Which license does Ortler have?", "Is Ortler open source?", "Under which license is Ortler?", "What licence does Ortler use?"], "Ortler is licensed under Apache-2.0."),
    (["What happens without a token?", "What is the status code without an API key?", "Which error comes without authentication?", "What does 401 mean?", "What is error 401?"], "Without valid credentials the server answers 401."),
    (["What does 400 mean?", "What is error 400?", "Which status code means a bad request?"], "Status 400 means that the request is not valid."),
    (["What does 404 mean?", "What is error 404?", "Which status code means not found?"], "Status 404 means that something was not found."),
    (["What does 429 mean?", "What is error 429?", "Which status code means too many requests?"], "Status 429 means too many requests: try again later."),
    (["What does 200 mean?", "What is status 200?", "Which status code means success?"], "Status 200 means success."),
]
PARAMETERS = {
    "temperature": "sets how random the answer is; 0 always takes the most likely token",
    "top_p": "keeps only the most likely tokens whose probabilities add up to top_p",
    "top_k": "keeps only the k most likely tokens",
    "min_p": "drops tokens far less likely than the most likely one",
    "max_completion_tokens": "limits the number of tokens that are generated",
    "max_tokens": "is the deprecated name of max_completion_tokens",
    "stream": "sends the answer in pieces while it is generated",
    "stream_options": "holds include_usage, which adds token counts to a stream",
    "seed": "makes random sampling repeatable",
    "stop": "lists texts that end the answer when they occur",
    "stop_token_ids": "lists tokens that end the answer",
    "logprobs": "returns the log probability of each generated token",
    "top_logprobs": "returns the most likely tokens at each position",
    "prompt_logprobs": "returns log probabilities of the prompt tokens",
    "n": "sets how many answers are generated",
    "messages": "holds the conversation so far",
    "model": "names the model that answers",
    "frequency_penalty": "lowers tokens the more often they have occurred",
    "presence_penalty": "lowers tokens that have already occurred",
    "repetition_penalty": "makes repeated tokens less likely",
    "logit_bias": "adds a number to the score of chosen tokens",
    "response_format": "asks for an answer that matches a JSON schema",
    "structured_outputs": "forces the answer to match JSON, a regex, a choice or a grammar",
    "reasoning_effort": "asks the model to think before it answers",
    "include_reasoning": "tells whether the thinking is returned",
    "tools": "describes functions that the model may know of",
    "documents": "gives texts that the model can use for its answer",
    "chat_template": "replaces the template that turns messages into a prompt",
    "add_generation_prompt": "opens the turn of the assistant in the prompt",
    "continue_final_message": "lets the model continue the last message",
    "ignore_eos": "keeps generating after the end token",
    "min_tokens": "sets the least number of tokens to generate",
    "bad_words": "lists words that must not occur",
    "allowed_token_ids": "lists the only tokens that may occur",
    "echo": "puts the last message before the answer",
    "cache_salt": "keeps the prefix cache apart from other callers",
    "priority": "lets requests with lower numbers run earlier",
    "request_id": "names the request",
    "use_beam_search": "searches several candidate answers at once",
    "skip_special_tokens": "leaves special tokens out of the answer",
    "return_token_ids": "returns token IDs next to the text",
    "truncate_prompt_tokens": "keeps only the last tokens of the prompt",
}
ASKS = ["What does {p} do?", "What is {p}?", "What is {p} for?", "Explain {p}.", "Explain the parameter {p}.", "What is the {p} parameter?", "Tell me about {p}.", "What does the parameter {p} do?", "What does the {p} parameter mean?", "Describe {p}.", "What is the meaning of {p}?", "How does {p} work?", "Can you explain {p}?", "What's {p}?"]


def generate(rng: random.Random):
    if rng.random() < 0.45:
        name = rng.choice(list(PARAMETERS))
        forms = [f for f in ASKS if "parameter" in f] if name in ("n", "model", "stop", "tools", "messages") else ASKS
        question = rng.choice(forms).format(p=name)
        answer, thought = f"{name} {PARAMETERS[name]}.", f"The question is about the request parameter {name}."
    else:
        questions, answer = rng.choice(TOPICS)
        question, thought = rng.choice(questions), "The question is about Ortler and its API."
    return ask(SKILL, vary(rng, question), answer, thought=thought)
