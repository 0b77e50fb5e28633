// Synthesizes and plays short sounds, if the user has enabled them.

import { getStored, setStored } from './storage.ts';

/** Notes of each sound: frequency in hertz and start in seconds. */
const SOUNDS = {
  move: [[330, 0]] as [number, number][],
  turn: [
    [440, 0],
    [587, 0.09],
  ] as [number, number][],
  offer: [
    [587, 0],
    [587, 0.12],
  ] as [number, number][],
  tick: [[880, 0]] as [number, number][],
  end: [
    [440, 0],
    [554, 0.12],
    [659, 0.24],
  ] as [number, number][],
};

const NOTE_SECONDS = 0.16;
const VOLUME = 0.12;

let audio: AudioContext | undefined;

export const isSoundEnabled = () => getStored('sound') === 'on';

export function setSoundEnabled(on: boolean) {
  setStored('sound', on ? 'on' : null);
  if (on) playSound('turn');
}

export function playSound(name: keyof typeof SOUNDS) {
  if (!isSoundEnabled()) return;
  audio ??= new AudioContext();
  // Browsers allow no sound before the first click.
  if (audio.state === 'suspended') void audio.resume();
  for (const [frequency, start] of SOUNDS[name])
    playNote(audio, frequency, audio.currentTime + start);
}

function playNote(audio: AudioContext, frequency: number, at: number) {
  const tone = new OscillatorNode(audio, { type: 'triangle', frequency });
  const volume = new GainNode(audio, { gain: 0 });
  volume.gain.setValueAtTime(VOLUME, at);
  volume.gain.exponentialRampToValueAtTime(0.001, at + NOTE_SECONDS);
  tone.connect(volume).connect(audio.destination);
  tone.start(at);
  tone.stop(at + NOTE_SECONDS);
}
