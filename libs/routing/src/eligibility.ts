import type { CatalogueModel, Route } from '@gateway/contracts';
import type { Capability, ModelRequest, Quirks } from '@gateway/dialects';

interface Candidate {
  model: CatalogueModel;
  route: Route;
  quirks: Quirks;
  request: ModelRequest;
}

const speaksChat = ({ route }: Candidate): boolean => route.dialect === 'chat';
const accepts =
  (param: string) =>
  (candidate: Candidate): boolean =>
    speaksChat(candidate) && !candidate.quirks.refuses?.includes(param);
const takesInput = (modality: string) => (candidate: Candidate) =>
  candidate.model.record.input_modalities.includes(modality);

/** Can this route serve the capability? One row each (wire-formats 5.11, hard capability). */
const SERVES: Record<Capability, (candidate: Candidate) => boolean> = {
  tools: ({ model, quirks }) => model.record.supports_tools && !quirks.refuses?.includes('tools'),
  custom_tools: speaksChat,
  image_input: takesInput('image'),
  audio_input: (candidate) => speaksChat(candidate) && takesInput('audio')(candidate),
  document_input: (candidate) =>
    takesInput('file')(candidate) || takesInput('pdf')(candidate) || takesInput('image')(candidate),
  json_schema: ({ model }) => model.record.supports_structured_output,
  choices: accepts('n'),
  logprobs: accepts('logprobs'),
  logit_bias: accepts('logit_bias'),
  audio_output: (candidate) =>
    speaksChat(candidate) && candidate.model.record.output_modalities.includes('audio'),
  prediction: accepts('prediction'),
  web_search: accepts('web_search_options'),
  reasoning: ({ model }) => model.record.supports_thinking,
  reasoning_budget: ({ model }) => model.record.supports_thinking,
  flex: ({ route }) =>
    (route.price.flex_prompt_usd_per_1m ?? route.price.flex_completion_usd_per_1m ?? null) !== null,
  same_dialect: ({ route, request }) => route.dialect === request.dialect,
};

/** The first hard requirement that a route cannot serve, as the caller named it; null where it serves all. */
export function missingCapability(
  request: ModelRequest,
  model: CatalogueModel,
  route: Route,
  quirks: Quirks,
): string | null {
  const candidate = { model, route, quirks, request };
  return request.requires.find(({ capability }) => !SERVES[capability](candidate))?.param ?? null;
}
