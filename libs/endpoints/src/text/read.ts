import { type Capability, type ModelRequest, type TextCaller } from '@gateway/dialects';
import { BodyFault, parseBody, spellBody } from '@gateway/json-body';
import { StoredContentNeeded } from '../stored/stored-content-needed.js';
import { loadChoice, readChoice } from './route-choice.js';
import { SEARCH_MODEL, searchesWeb } from '../web-search/search-model.js';
import type { Asked, CallerBody, Need, Requirement } from '../endpoint.js';

/** Abilities of the model that a capability needs. What it asks of the wire format is the dialect's (`misfit`). */
const NEEDS: Partial<Record<Capability, Need>> = {
  tools: { flag: 'supports_tools' },
  image_input: { input: ['image'] },
  audio_input: { input: ['audio'] },
  document_input: { input: ['file', 'pdf', 'image'] },
  json_schema: { flag: 'supports_structured_output' },
  audio_output: { output: 'audio' },
  reasoning: { flag: 'supports_thinking' },
  reasoning_budget: { flag: 'supports_thinking' },
};

/** Parts of a request beside its body that routes of the caller's own dialect are sent. */
export interface NativeParts extends Partial<Pick<ModelRequest, 'nativeHeaders' | 'newBetas'>> {
  /** Parts that no route is sent, by the names of a report. */
  unread?: readonly string[];
}

/** Loads what the first request of a text endpoint would wait for. */
export function loadText(caller: TextCaller): void {
  caller.load();
  loadChoice();
}

/** Reads the body of a text endpoint: the caller's dialect decodes it once, to the middle form of all text. */
export function readText(
  caller: TextCaller,
  { bytes }: CallerBody,
  { serves, native }: { serves: Asked['serves']; native?: NativeParts },
): Asked<ModelRequest> | StoredContentNeeded {
  const body = parseBody(bytes);
  if (body instanceof BodyFault) throw caller.bodyError(body);
  const { template, variables, template_version: version, memory } = body.value;
  if (template != null || variables != null || version != null || memory != null) {
    spellBody(body);
    return new StoredContentNeeded(caller, body.value);
  }
  const decoded = caller.read(body);
  const { unread: unreadHeaders = [], ...parts } = native ?? {};
  const request = { ...decoded, ...parts };
  const { models, provider } = body.value;
  const chosen = models == null && provider == null ? null : readChoice(caller, request);
  const unread = [...unreadHeaders, ...(chosen?.unread ?? [])];
  const { textBytes, images, audioSeconds, documentBytes, nativeBytes } = request.sizes;
  return {
    model: chosen === null ? request.model : chosen.model,
    ...(chosen !== null && { choice: chosen.choice }),
    stream: request.stream,
    tier: request.serviceTier === 'flex' ? 'flex' : 'default',
    endUser: request.endUser,
    serves,
    requires: requirements(request),
    ...((body.value.tools ?? body.value.web_search_options ?? body.value.input) != null &&
    searchesWeb(body.value)
      ? { alsoUses: SEARCH_MODEL }
      : {}),
    dialect: request.dialect,
    input: {
      inputBytes: textBytes,
      inputImages: images,
      inputAudioSeconds: audioSeconds,
      inputDocuments: documentBytes,
    },
    ...(nativeBytes !== undefined && { nativeBytes }),
    billableUnits: {},
    maxOutputTokens: request.maxOutputTokens,
    choices: request.choices,
    ...cacheOf(request),
    context: {},
    ...(unread.length > 0 && { unread }),
    ...(body.value.store === true && { isStored: true }),
    ...(request.files.length > 0 && { files: request.files }),
    ...(request.atProvider !== undefined && { atProvider: request.atProvider }),
    ...(request.unpriced !== undefined && { unpriced: request.unpriced }),
    request,
  };
}

function requirements({ requires }: ModelRequest): Requirement[] {
  const found: Requirement[] = [];
  for (const { capability, param } of requires) {
    const need = NEEDS[capability];
    if (need) found.push({ ...need, param });
  }
  return found;
}

/**
 * `writesCache` is true if the body has a cache marker anywhere. `cacheKey` is the caller's own key of a cache, an empty
 * text where markers alone ask for one.
 */
function cacheOf({ hints }: ModelRequest): Pick<Asked, 'writesCache' | 'cacheKey'> {
  const writesCache = 'cache_control' in hints || 'prompt_cache_breakpoint' in hints;
  const { prompt_cache_key: key } = hints;
  if (typeof key === 'string') return { writesCache, cacheKey: key };
  return writesCache ? { writesCache, cacheKey: '' } : { writesCache };
}
