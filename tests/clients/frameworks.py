"""Programs of Python's agent frameworks on a model that is scripted to call a tool and to answer with its result.

Run: python tests/clients/frameworks.py MODEL    with OPENAI_BASE_URL and OPENAI_API_KEY of a server with tool calling, as
serve-scripted-agent.ts prints them. Needs langchain, langchain-openai, openai-agents, pydantic-ai-slim[openai], instructor,
llama-index-core>=0.14, llama-index-llms-openai-like and smolagents[openai]>=1.20 (`uv pip install` finds versions that go
together, pip takes long); a framework that is not there fails by name.
"""

import asyncio
import json
import os
import sys
import traceback

MODEL = sys.argv[1] if len(sys.argv) > 1 else "agent"
BASE_URL = os.environ["OPENAI_BASE_URL"]
API_KEY = os.environ["OPENAI_API_KEY"]
QUESTION = "How is the weather in Rome?"
asked = []


def get_weather(city: str) -> str:
    """The weather of a city.

    Args:
        city: Name of the city.
    """
    asked.append(city)
    return "sunny"


def openai_sdk():
    from openai import OpenAI

    client = OpenAI()
    tool = {
        "type": "function",
        "name": "get_weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    }
    first = client.responses.create(model=MODEL, input=QUESTION, tools=[tool])
    call = first.output[0]
    result = get_weather(**json.loads(call.arguments))
    output = {"type": "function_call_output", "call_id": call.call_id, "output": result}
    with client.responses.stream(
        model=MODEL, input=[output], previous_response_id=first.id, tools=[tool]
    ) as stream:
        for _ in stream:
            pass
        return stream.get_final_response().output_text


def langchain_chat():
    from langchain.agents import create_agent
    from langchain_openai import ChatOpenAI

    agent = create_agent(ChatOpenAI(model=MODEL), tools=[get_weather])
    return agent.invoke({"messages": [("user", QUESTION)]})["messages"][-1].text


def langchain_responses():
    from langchain.agents import create_agent
    from langchain_openai import ChatOpenAI

    agent = create_agent(ChatOpenAI(model=MODEL, use_responses_api=True), tools=[get_weather])
    return agent.invoke({"messages": [("user", QUESTION)]})["messages"][-1].text


def langchain_structured():
    from langchain_openai import ChatOpenAI
    from pydantic import BaseModel

    class Place(BaseModel):
        city: str

    model = ChatOpenAI(model=MODEL).with_structured_output(Place, method="function_calling")
    return model.invoke(QUESTION).city


def openai_agents(api):
    from agents import Agent, Runner, function_tool, set_default_openai_api, set_tracing_disabled

    set_tracing_disabled(True)
    set_default_openai_api(api)
    agent = Agent(name="weather", instructions="You know the weather.", model=MODEL, tools=[function_tool(get_weather)])

    async def streamed():
        result = Runner.run_streamed(agent, QUESTION)
        async for _ in result.stream_events():
            pass
        return result.final_output

    whole = Runner.run_sync(agent, QUESTION).final_output
    assert asyncio.run(streamed()) == whole
    return whole


def pydantic_ai_tools():
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    model = OpenAIChatModel(MODEL, provider=OpenAIProvider(base_url=BASE_URL, api_key=API_KEY))
    return Agent(model, tools=[get_weather]).run_sync(QUESTION).output


def pydantic_ai_output():
    from pydantic import BaseModel
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    class Answer(BaseModel):
        answer: str

    model = OpenAIChatModel(MODEL, provider=OpenAIProvider(base_url=BASE_URL, api_key=API_KEY))
    return Agent(model, tools=[get_weather], output_type=Answer).run_sync(QUESTION).output.answer


def pydantic_ai_responses():
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    model = OpenAIResponsesModel(MODEL, provider=OpenAIProvider(base_url=BASE_URL, api_key=API_KEY))
    return Agent(model, tools=[get_weather]).run_sync(QUESTION).output


def instructor_default(mode=None):
    import instructor
    from openai import OpenAI
    from pydantic import BaseModel

    class Place(BaseModel):
        city: str

    client = instructor.from_openai(OpenAI()) if mode is None else instructor.from_openai(OpenAI(), mode=mode)
    messages = [{"role": "user", "content": QUESTION}]
    return client.chat.completions.create(model=MODEL, response_model=Place, messages=messages).city


def instructor_strict():
    import instructor

    return instructor_default(instructor.Mode.TOOLS_STRICT)


def instructor_responses():
    import instructor
    from openai import OpenAI
    from pydantic import BaseModel

    class Place(BaseModel):
        city: str

    client = instructor.from_openai(OpenAI(), mode=instructor.Mode.RESPONSES_TOOLS)
    return client.responses.create(model=MODEL, response_model=Place, input=QUESTION).city


def llama_index():
    from llama_index.core.agent.workflow import FunctionAgent
    from llama_index.llms.openai_like import OpenAILike

    llm = OpenAILike(
        model=MODEL, api_base=BASE_URL, api_key=API_KEY, is_chat_model=True, is_function_calling_model=True
    )

    async def ask():
        return str(await FunctionAgent(tools=[get_weather], llm=llm).run(QUESTION))

    return asyncio.run(ask())


def smolagents():
    from smolagents import OpenAIModel, ToolCallingAgent, tool

    model = OpenAIModel(model_id=MODEL, api_base=BASE_URL, api_key=API_KEY)
    return ToolCallingAgent(tools=[tool(get_weather)], model=model, verbosity_level=0).run(QUESTION)


PROGRAMS = {
    "openai, responses by hand": openai_sdk,
    "LangChain agent, chat completions": langchain_chat,
    "LangChain agent, responses": langchain_responses,
    "LangChain function_calling": langchain_structured,
    "openai-agents, responses": lambda: openai_agents("responses"),
    "openai-agents, chat completions": lambda: openai_agents("chat_completions"),
    "pydantic-ai tools": pydantic_ai_tools,
    "pydantic-ai ToolOutput": pydantic_ai_output,
    "pydantic-ai, responses": pydantic_ai_responses,
    "instructor TOOLS": instructor_default,
    "instructor TOOLS_STRICT": instructor_strict,
    "instructor RESPONSES_TOOLS": instructor_responses,
    "LlamaIndex FunctionAgent": llama_index,
    "smolagents ToolCallingAgent": smolagents,
}

failed = 0
for name, program in PROGRAMS.items():
    asked.clear()
    try:
        answer = program()
        assert "Rome" in answer, f"unexpected answer {answer!r}"
        print(f"ok      {name}: {answer!r}, asked {asked}")
    except Exception:
        failed += 1
        print(f"FAILED  {name}\n{traceback.format_exc()}")
sys.exit(1 if failed else 0)
