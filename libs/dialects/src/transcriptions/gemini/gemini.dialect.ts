import type { UnitUsage } from '@gateway/contracts';
import {
  objectOf,
  objectsOf,
  textOf,
  countOfSome,
  wholeCount,
  type JsonObject,
} from '../../body/json-object.js';
import { badReply, failedReply } from '../../translation/exchange.js';
import { jsonBody, JSON_TYPE } from '../../translation/upstream-body.js';
import { audioTypeOf } from '../audio-type.js';
import { answerIn, fieldOf, fieldsOf, firstOf, isDiarized, needsTimes, onlyTranscribes } from '../fields.js';
import { secondsOf, segmentsOf } from '../spoken.js';
import type { OwnTranscriptions, Spoken, TranscriptionRequest } from '../transcriptions-dialect.js';

const FILTERED = /SAFETY|PROHIBITED|BLOCKLIST|RECITATION|SPII/;

/** Gemini's transcription models: the recording is a part of a conversation that says nothing else. */
export const dialect: OwnTranscriptions = {
  name: 'gemini-transcriptions',
  takes: ['language', 'keywords[]', 'timestamp_granularities[]'],
  unsupported: onlyTranscribes,
  run: async (request, { upstreamModel }, calls) => {
    const { bytes } = request.file;
    const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
    const body = {
      contents: [{ role: 'user', parts: [{ inlineData: { mimeType: audioTypeOf(request.file), data } }] }],
      generationConfig: { audioTranscriptionConfig: configOf(request) },
    };
    const path = `/models/${upstreamModel}:generateContent`;
    const answer = answerIn(await calls.send(jsonBody(path, JSON_TYPE, body)));
    const parts = partsIn(answer);
    const words = parts.flatMap(wordsIn);
    return {
      text: parts
        .map(({ text }) => textOf(text))
        .join('')
        .trim(),
      language: fieldOf(request, 'language'),
      seconds: null,
      words,
      segments: segmentsOf(words, ' '),
      usage: countsOf(objectOf(answer.usageMetadata)),
    };
  },
};

function configOf(request: TranscriptionRequest): JsonObject {
  const language = fieldOf(request, 'language');
  const words = fieldsOf(request, 'keywords[]');
  return {
    ...(language !== null && { languageCodes: [language] }),
    ...(words.length > 0 && { customVocabulary: words }),
    ...(isDiarized(request) && { diarization: true }),
    ...(needsTimes(request) && { wordTimestamp: true }),
  };
}

function partsIn({ candidates, promptFeedback }: JsonObject): JsonObject[] {
  const { content, finishReason, finishMessage } = firstOf(candidates);
  const reason = textOf(objectOf(promptFeedback).blockReason) || textOf(finishReason);
  if (FILTERED.test(reason))
    throw failedReply(
      'content_policy_violation',
      textOf(finishMessage) || 'the request was refused by a content filter.',
      400,
    );
  // Silence ends an answer without a word; no reason at all is no answer.
  if (reason === '' && content === undefined) throw badReply('the answer holds no text.');
  return objectsOf(objectOf(content).parts).filter(({ thought }) => thought !== true);
}

function wordsIn({ audioTranscription }: JsonObject): Spoken[] {
  const { speakerLabel, words } = objectOf(audioTranscription);
  return objectsOf(words).map(({ word, startOffset, endOffset }) => {
    const start = offset(startOffset);
    return {
      text: textOf(word),
      start,
      end: Math.max(start, offset(endOffset)),
      speaker: textOf(speakerLabel) || null,
    };
  });
}

/** `0.100s`. */
function offset(value: unknown): number {
  return secondsOf(Number.parseFloat(textOf(value)));
}

/** Thoughts are output. A side that is not reported is estimated. */
function countsOf(metadata: JsonObject): UnitUsage {
  const prompt = countOfSome(metadata.promptTokenCount);
  const output = countOfSome(metadata.candidatesTokenCount);
  const audio = objectsOf(metadata.promptTokensDetails).find(({ modality }) => modality === 'AUDIO');
  return {
    ...(prompt !== null && { prompt_tokens: prompt, audio_input_tokens: wholeCount(audio?.tokenCount) ?? 0 }),
    ...(output !== null && { completion_tokens: output + (wholeCount(metadata.thoughtsTokenCount) ?? 0) }),
  };
}
