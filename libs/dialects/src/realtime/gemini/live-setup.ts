import { filled, isObject, objectOf, objectsOf, textOf, type JsonObject } from '../../body/json-object.js';
import { isEmptySchema, plainTool } from '../../text/plain-schema.js';

/** Sample rate that the provider expects: the format that callers use where they name none. */
const RATE_DEFAULT = 24_000;

/** `session` with the members of `update`; audio is merged a level deeper, as OpenAI does. */
export function merged(session: JsonObject, update: JsonObject): JsonObject {
  const [before, after] = [objectOf(session.audio), objectOf(update.audio)];
  const audio = {
    input: { ...objectOf(before.input), ...objectOf(after.input) },
    output: { ...objectOf(before.output), ...objectOf(after.output) },
  };
  return { ...session, ...update, audio };
}

/** The member that the provider has no word for; null where it can carry the session. */
export function unsupported(session: JsonObject): string | null {
  const { input, output } = objectOf(session.audio);
  for (const [name, side] of Object.entries({ input, output })) {
    const { type } = objectOf(objectOf(side).format);
    if (type !== undefined && type !== 'audio/pcm') return `session.audio.${name}.format`;
  }
  if (objectsOf(session.tools).some(({ type }) => type !== undefined && type !== 'function'))
    return 'session.tools';
  const { output_modalities: modalities } = session;
  return Array.isArray(modalities) && modalities.length > 1 ? 'session.output_modalities' : null;
}

function speaks({ output_modalities: modalities }: JsonObject): boolean {
  return !Array.isArray(modalities) || !modalities.includes('text');
}

/** Turns are found by the provider, unless the caller marks them itself. */
export function detectsTurns(session: JsonObject): boolean {
  return objectOf(objectOf(session.audio).input).turn_detection !== null;
}

export function mimeTypeOf(session: JsonObject): string {
  const { rate } = objectOf(objectOf(objectOf(session.audio).input).format);
  return `audio/pcm;rate=${typeof rate === 'number' ? rate : RATE_DEFAULT}`;
}

/** The one message that settles a session: a second one would close it. */
export function setupOf(session: JsonObject, upstreamModel: string): JsonObject {
  const { input, output } = objectOf(session.audio);
  const { voice } = objectOf(output);
  const isSpoken = speaks(session);
  const { instructions, max_output_tokens: most, tools } = session;
  const declared = objectsOf(tools).map(declaration);
  const speechConfig = { voiceConfig: { prebuiltVoiceConfig: { voiceName: voice } } };
  const generationConfig = {
    responseModalities: [isSpoken ? 'AUDIO' : 'TEXT'],
    ...(typeof most === 'number' ? { maxOutputTokens: most } : {}),
    ...(isSpoken && textOf(voice) !== '' ? { speechConfig } : {}),
  };
  return {
    setup: {
      model: `models/${upstreamModel}`,
      generationConfig,
      ...(textOf(instructions) === '' ? {} : { systemInstruction: { parts: [{ text: instructions }] } }),
      ...(declared.length > 0 ? { tools: [{ functionDeclarations: declared }] } : {}),
      ...(isObject(objectOf(input).transcription) ? { inputAudioTranscription: {} } : {}),
      ...(isSpoken ? { outputAudioTranscription: {} } : {}),
      ...(detectsTurns(session)
        ? {}
        : { realtimeInputConfig: { automaticActivityDetection: { disabled: true } } }),
    },
  };
}

function declaration({ name, description: said, parameters: schema }: JsonObject): JsonObject {
  const given = {
    ...(filled(said) === null ? {} : { description: textOf(said) }),
    parameters: objectOf(schema),
  };
  const { description, parameters = {} } = plainTool({ name: textOf(name), ...given });
  return {
    name,
    ...(description === undefined ? {} : { description }),
    ...(isEmptySchema(parameters) ? {} : { parametersJsonSchema: parameters }),
  };
}
