const AMOUNT = /must be a decimal string of USD/;
/** The name of the member, with which the message of a check begins. */
const NAME = /^(?:[a-z0-9_]+\.)*[a-z0-9]+(?:_[a-z0-9]+)* (?=must|should|is|has|contains)/;

/** Returns the message of one member of a body, for the field that a person has filled: without names of the API. */
export function fieldMessage(message: string): string {
  if (AMOUNT.test(message)) return 'Enter an amount such as 25 or 0.50.';
  const words = message.replace(NAME, '').replaceAll(/(?<=[a-z])_(?=[a-z])/g, ' ');
  const sentence = `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`;
  return /[.!?]$/.test(sentence) || sentence === '' ? sentence : `${sentence}.`;
}
