export { startAllInOne } from '@gateway/testing';
