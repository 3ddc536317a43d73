import { Kbd, Modal, Table } from '@mantine/core';
import type { ReactNode } from 'react';
import { LETTERS } from './letters.js';

const KEYS: readonly [keys: readonly string[], what: string][] = [
  [['Ctrl', 'K'], 'Go to a page, action, key, model, member or request'],
  [['/'], 'Search this page'],
  [['j'], 'Next row'],
  [['k'], 'Row before'],
  [['Enter'], 'Open the row'],
  ...Object.entries(LETTERS).map(([letter, { name }]): [string[], string] => [['g', letter], name]),
  [['?'], 'This list'],
];

export default function KeyboardHelp({ onClose }: { onClose: () => void }): ReactNode {
  return (
    <Modal opened onClose={onClose} title="Keyboard">
      <Table aria-label="Keyboard">
        <Table.Tbody>
          {KEYS.map(([keys, what]) => (
            <Table.Tr key={what}>
              <Table.Td>{what}</Table.Td>
              <Table.Td ta="right">
                {keys.map((key) => (
                  <Kbd key={key} ml={4}>
                    {key}
                  </Kbd>
                ))}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Modal>
  );
}
