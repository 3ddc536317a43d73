import { useCallback, useRef, useState } from 'react';
import { asProblem, type Problem } from '../api/problem.js';
import { bodyOf, chat, type Answer, type Settings, type Turn } from './chat.js';

/** One model's side of the conversation. */
export interface Lane {
  model: string;
  turns: Turn[];
  /** Note on the last answer. */
  answer: Answer | null;
  problem: Problem | null;
  isRunning: boolean;
}

const newLane = (model: string, past: readonly Turn[]): Lane => ({
  model,
  turns: [...past],
  answer: null,
  problem: null,
  isRunning: false,
});

interface Conversation {
  lanes: readonly Lane[];
  send: (turn: Turn, settings: Settings, key: () => Promise<string>) => void;
  /** Sends the results of the tools that a model has called, in the order of its calls. */
  answer: (model: string, results: readonly string[], settings: Settings, key: () => Promise<string>) => void;
  stop: () => void;
  clear: () => void;
}

/** The same prompt to each model at once, every one with its own past, which begins as `past` until it is cleared. */
export function useLanes(models: readonly string[], past: readonly Turn[]): Conversation {
  const [byModel, setByModel] = useState<ReadonlyMap<string, Lane>>(new Map());
  const running = useRef(new Set<AbortController>());
  const [begun, begin] = useState(past);
  const lanes = models.map((model) => byModel.get(model) ?? newLane(model, begun));

  const change = useCallback((model: string, next: (lane: Lane) => Lane) => {
    setByModel((all) => new Map(all).set(model, next(all.get(model) ?? newLane(model, []))));
  }, []);

  const send: Conversation['send'] = (turn, settings, key) => {
    for (const { model, turns } of lanes) void ask(model, [...turns, turn], settings, key);
  };

  const answer: Conversation['answer'] = (model, results, settings, key) => {
    const turns = lanes.find((lane) => lane.model === model)?.turns ?? [];
    const calls = turns.at(-1)?.toolCalls ?? [];
    const told = calls.map(({ id }, at): Turn => ({ role: 'tool', callId: id, text: results[at] ?? '' }));
    void ask(model, [...turns, ...told], settings, key);
  };

  async function ask(
    model: string,
    turns: Turn[],
    settings: Settings,
    key: () => Promise<string>,
  ): Promise<void> {
    const controller = new AbortController();
    running.current.add(controller);
    change(model, (lane) => ({ ...lane, turns, answer: null, problem: null, isRunning: true }));
    try {
      const onProgress = (answer: Answer): void => {
        const said: Turn = { role: 'assistant', text: answer.text, toolCalls: answer.toolCalls };
        change(model, (lane) => ({ ...lane, answer, turns: [...turns, said] }));
      };
      const body = bodyOf(model, turns, settings);
      const { signal } = controller;
      await chat(body, { key: await key(), signal, now: () => performance.now(), onProgress });
    } catch (failure) {
      // Stopped by the person: what came stays.
      if (!controller.signal.aborted) change(model, (lane) => ({ ...lane, problem: asProblem(failure) }));
    } finally {
      running.current.delete(controller);
      change(model, (lane) => ({ ...lane, isRunning: false }));
    }
  }

  const stop = (): void => {
    for (const controller of running.current) controller.abort();
  };
  const clear = (): void => {
    setByModel(new Map());
    begin([]);
  };
  return { lanes, send, answer, stop, clear };
}
