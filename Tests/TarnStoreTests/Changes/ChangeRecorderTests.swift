import TestSupport
import Testing

@testable import TarnStore

@Suite("Recording a write")
struct ChangeRecorderTests {
  private let id = ClassID(2)

  private func note(_ operation: FateOperation, in recorder: ChangeRecorder) {
    switch operation {
    case .insert(let key): recorder.insert(id, ObjectKey(key))
    case .delete(let key): recorder.delete(id, ObjectKey(key))
    case .touch(let key, let column): recorder.touch(id, ObjectKey(key), ColumnID(column))
    case .backTouch(let key, let origin, let column):
      recorder.backTouch(id, ObjectKey(key), origin: ClassID(origin), column: ColumnID(column))
    case .clear: recorder.clear(id)
    }
  }

  @Test(
    "gives what happened, as a whole and since any position",
    arguments: [(true, false), (true, true), (false, false), (false, true)])
  func agreesWithModel(reuses: Bool, clears: Bool) {
    for seed in Seeds.of(UInt64(0)..<200) {
      var random = SeededRandom(seed: seed)
      var model = FateModel()
      for _ in 0..<20 {
        model.apply(model.randomOperation(keys: 24, reuses: reuses, clears: clears, &random))
      }
      let start = model.moment
      let recorder = ChangeRecorder()
      var positions: [(ChangeRecorder.Position, Int)] = [(.start, start)]
      let asksOften = Bool.random(using: &random)
      for _ in 0..<Int.random(in: 0..<150, using: &random) {
        let operation = model.randomOperation(keys: 24, reuses: reuses, clears: clears, &random)
        model.apply(operation)
        note(operation, in: recorder)
        if asksOften && Int.random(in: 0..<6, using: &random) == 0 {
          positions.append((recorder.position, model.moment))
          let (position, moment) = positions.randomElement(using: &random)!
          #expect(
            recorder.changes(since: position).classes
              == model.changeSet(id, from: moment, to: model.moment).classes)
        }
      }
      let whole = recorder.changeSet(from: Version(5), to: Version(6))
      let expected = model.changeSet(id, from: start, to: model.moment)
      #expect(whole.classes == expected.classes, "seed \(seed)")
      #expect(whole.from == Version(5))
      #expect(whole.to == Version(6))
      recorder.reset()
      #expect(recorder.isEmpty)
      #expect(recorder.changeSet(from: Version(1), to: Version(2)).isEmpty)
    }
  }

  @Test("folds long rows of inserting and deleting without losing their order")
  func foldsManyEvents() {
    let recorder = ChangeRecorder()
    // Of the keys that are there before, 0 to 2,999, each goes, comes and goes again; the odd
    // ones come back at the end.
    for round in 0..<30 {
      for key in Int64(0)..<3000 {
        let position = ObjectKey(key * 3)
        recorder.touch(id, position, ColumnID(1))
        if round % 2 == 0 { recorder.delete(id, position) } else { recorder.insert(id, position) }
        if round == 29 && key % 2 == 0 { recorder.delete(id, position) }
      }
    }
    let changes = recorder.changeSet(from: Version(1), to: Version(2))[id]
    #expect(changes?.deleted.count == 3000)
    #expect(changes?.inserted.count == 1500)
    #expect(changes?.touched.isEmpty == true)
  }

  @Test("keeps the same objects set over and over small")
  func tidiesRepeats() {
    let recorder = ChangeRecorder()
    for round in 0..<600_000 {
      recorder.touch(id, ObjectKey(Int64(round * 7919 % 1000 * 2)), ColumnID(3))
    }
    let changes = recorder.changeSet(from: Version(1), to: Version(2))[id]
    #expect(changes?.touchedKeys(in: ColumnID(3)).count == 1000)
  }

  @Test("of several classes puts them in order")
  func ordersClasses() {
    let recorder = ChangeRecorder()
    for id: UInt32 in [9, 1, 5] { recorder.insert(ClassID(id), ObjectKey(1)) }
    recorder.delete(ClassID(5), ObjectKey(1))
    let changes = recorder.changeSet(from: Version(1), to: Version(2))
    #expect(changes.classes.map(\.id.rawValue) == [1, 9])
  }
}
