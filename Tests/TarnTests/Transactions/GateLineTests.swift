import CTarn
import Foundation
import Testing

@testable import Tarn
@testable import TarnStore

/// Instances that wait for the gate in line, and take turns that come late or never.
struct GateLineTests {
  /// A ticket that others have passed over is in nobody's way.
  private func isPassedOver(_ gate: WriteGate) -> Bool {
    (0..<SignalLayout.waiterCount).contains {
      tarn_load64(gate.waiter($0)) & GateWord.passedOver != 0
    }
  }

  /// Passing over takes 10 ms, and must not take them for each write of the others.
  @Test("instances whose turns do not come are passed over for good")
  func whoseTurnsDoNotComeIsPassedOverForGood() throws {
    let shelter = try Shelter(.relaxed)
    let (a, b, c) = (try shelter.open(), try shelter.open(), try shelter.open())
    let gate = a.realm.core.store.gate
    b.realm.beginWrite()
    for instance in [a, c] {
      instance.realm.writeAsync { instance.realm.add(Cat(-instance.cats.count)) }
      instance.pump()
    }
    b.realm.cancelWrite()
    // It stays so from when both were called.
    var (count, inARow) = (0, 0)
    while inARow < 200, count < 3000 {
      count += 1
      try b.add(count)
      inARow = isPassedOver(gate) ? inARow + 1 : 0
    }
    #expect(inARow == 200)
    // Until they come.
    for instance in [a, c] { instance.finish() }
    #expect(Set(c.cats.where { $0.id < 0 }.map(\.id)) == [-count, -count - 1])
    #expect(!isPassedOver(gate))
    try b.realm.write(timeout: .seconds(300)) {}
  }
}
