import Foundation
import Testing

@testable import Tarn

private enum LedgerGrade: String, PersistableEnum { case low, high }

private struct LedgerCell: CustomPersistable, Hashable {
  typealias PersistedType = Int
  var number: Int
  init(persistedValue: Int) { number = persistedValue }
  var persistableValue: Int { number }
}

private struct LedgerSpot: CustomPersistable, Hashable {
  typealias PersistedType = LedgerSpotRow
  var x: Int
  init(persistedValue: LedgerSpotRow) { x = persistedValue.x }
  var persistableValue: LedgerSpotRow { LedgerSpotRow(value: ["x": x]) }
}

private class LedgerSpotRow: EmbeddedObject {
  @Persisted var x: Int
}

private class ValueLedger: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var ints: List<Int>
  @Persisted var texts: List<String?>
  @Persisted var days: MutableSet<Date>
  @Persisted var prices: Map<String, Decimal128>
  @Persisted var odds: Map<String, AnyRealmValue>
  @Persisted var grades: List<LedgerGrade>
  @Persisted var cells: List<LedgerCell>
  @Persisted var spots: List<LedgerSpot>
  @Persisted var next: ValueLedger?
  @Persisted var pages: List<ValueLedger>
}

extension List<Int> {
  fileprivate subscript(double position: Int) -> Int { self[position] * 2 }
}

/// Key paths that end at an element of a collection of values, as observers take them.
struct ValueElementPathTests {
  @Test func anElementStandsForItsCollection() {
    #expect(
      _names(of: [
        \ValueLedger.ints[0], \ValueLedger.ints[700], \ValueLedger.texts[1], \ValueLedger.days[0],
        \ValueLedger.prices["a"], \ValueLedger.odds["a"], \ValueLedger.grades[0],
        \ValueLedger.cells[2],
        \ValueLedger.spots[0],
      ]) == ["ints", "ints", "texts", "days", "prices", "odds", "grades", "cells", "spots"])
    #expect(
      _names(of: [\ValueLedger.next?.ints[0], \ValueLedger.pages[3].texts[0]])
        == ["next.ints", "pages.texts"])
    #expect(_name(for: \ValueLedger.prices["x"]) == "prices")
  }

  @Test func whatIsMadeOfElementsIsRefused() {
    func fault<Root: ObjectBase>(_ keyPath: PartialKeyPath<Root>) -> String {
      do throws(KeyPathFault) {
        return try Tracer.steps(of: keyPath, throughElements: true).map(\.name).joined()
      } catch {
        return error.message(for: .observing)
      }
    }
    let members: [PartialKeyPath<ValueLedger>] = [
      \.ints[0].bitWidth, \.texts[0]?.count, \.ints.count, \.ints[-1], \.odds["a"]?.intValue,
      \.spots[0].x,
    ]
    for path in members { #expect(fault(path).contains("goes into a value"), "\(fault(path))") }
    let doubled = fault(\ValueLedger.ints[double: 3])
    #expect(doubled.contains("is not stored"), "\(doubled)")
  }

  /// Sorting and conditions need one value an object.
  @Test func onlyObserversAndNamesTakeThem() {
    #expect(throws: KeyPathFault.self) {
      try KnownKeyPaths.steps(of: \ValueLedger.ints[0], throughElements: false)
    }
  }

  @Test func observersHearOfTheCollection() throws {
    let scheduler = ManualScheduler()
    let realm = try Realm(
      configuration: Realm.Configuration(
        inMemoryIdentifier: "\(Self.self)", objectTypes: [ValueLedger.self, LedgerSpotRow.self]),
      scheduler: scheduler)
    let ledger = ValueLedger(value: ["id": 1, "ints": [1, 2]])
    try realm.write { realm.add(ledger) }
    var told: [String] = []
    let tokens = [
      ledger.observe(keyPaths: [\.ints[0]]) { change in
        if case .change(_, let properties) = change { told += properties.map(\.name) }
      },
      realm.objects(ValueLedger.self).observe(keyPaths: [\.ints[5]]) { change in
        if case .update(_, _, _, let rows) = change { told.append("\(rows)") }
      },
    ]
    while scheduler.pump() {}
    try realm.write { ledger.ints[1] = 7 }
    while scheduler.pump() {}
    #expect(told.sorted() == ["[0]", "ints"])
    try realm.write { ledger.texts.append("x") }
    while scheduler.pump() {}
    #expect(told.count == 2)
    for token in tokens { token.invalidate() }
  }
}
