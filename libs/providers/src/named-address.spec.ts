import { ExchangeFailure } from '@gateway/dialects';
import { namedAddress } from './named-address.js';

const HOSTS = ['bfl.ai'];
const BASE = 'http://127.0.0.1:4010/v1';

describe('an address that a provider’s answer names', () => {
  it.each([
    ['https://api.eu1.bfl.ai/v1/get_result?id=1'],
    ['https://bfl.ai/x'],
    ['http://127.0.0.1:4010/elsewhere'],
  ])('is called: %s', (url) => {
    expect(namedAddress(url, HOSTS, BASE)).toBe(url);
  });

  it.each([
    ['http://api.bfl.ai/v1'],
    ['https://api.bfl.ai:8443/v1'],
    ['https://user:secret@api.bfl.ai/'],
    ['https://evilbfl.ai/'],
    ['https://bfl.ai.evil.example/'],
    ['https://169.254.169.254/latest/meta-data'],
    ['http://127.0.0.1:4011/'],
    ['file:///etc/passwd'],
    ['no address'],
    [''],
  ])('is not called: %s', (url) => {
    expect(() => namedAddress(url, HOSTS, BASE)).toThrow(ExchangeFailure);
  });
});
