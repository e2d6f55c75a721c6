import Foundation
import TarnStore
import Testing

@testable import Tarn

@Suite struct RowAccessTests: TrapSuite {
  private func filled() -> ModelEverything {
    let object = ModelEverything()
    object.int = -5
    object.int8 = .min
    object.int32 = .max
    object.int64 = .min
    object.bool = true
    object.float = 0.1
    object.string = "fifteen letters"
    object.data = Data([0, 1, 255])
    object.date = Date(timeIntervalSinceReferenceDate: 800_000_000.123)
    object.decimal = "-19.90"
    object.mood = .wild
    object.grade = .high
    object.optionalInt = 0
    object.optionalString = ""
    object.optionalMood = .calm
    object.optionalDate = .distantPast
    object.optionalUUID = UUID()
    object.optionalId = .generate()
    object.optionalDecimal = .max
    return object
  }

  private func expectEqual(_ a: ModelEverything, _ b: ModelEverything) {
    for property in ClassReflection.of(ModelEverything.self).properties
    where property.target == nil {
      #expect(property.readBoxed(a).value == property.readBoxed(b).value, "\(property.name)")
    }
  }

  /// The object's values in a row of a new cluster, some rows before and after it.
  private func rows(with object: ModelEverything) throws -> WorkingCluster {
    let rows = WorkingCluster(try storeSchema(ModelEverything.self))
    for key in 0..<5 { _ = rows.insert(ObjectKey(Int64(key))) }
    for property in ClassReflection.of(ModelEverything.self).properties
    where property.target == nil {
      let column = try #require(rows.schema.named(property.columnName)).id
      rows.set(column, 3, property.readBoxed(object).value)
    }
    return rows
  }

  @Test func everyTypeReadsFromAnImageWhatWasPutThere() throws {
    let stage = RowStage()
    let object = filled()
    let view = ModelEverything()
    try stage.showEncoded(view, rows(with: object), slot: 3)
    expectEqual(view, object)
    #expect(view.string == "fifteen letters")
    #expect(view.mood == .wild)
    #expect(view.link == nil)
  }

  @Test func everyTypeReadsFromARowUnderEdit() throws {
    let stage = RowStage()
    let object = filled()
    let rows = try rows(with: object)
    let view = ModelEverything()
    stage.show(view, rows, slot: 3)
    expectEqual(view, object)
    withExtendedLifetime(rows) {}
  }

  @Test func assigningWritesToTheRowUnderEdit() throws {
    let stage = RowStage()
    let rows = try rows(with: filled())
    let view = ModelEverything()
    stage.show(view, rows, slot: 2)
    let neighbour = ModelEverything()
    stage.show(neighbour, rows, slot: 3)
    view.int += 7
    view.string = "a string that is too long to be small"
    view.optionalString = nil
    view.optionalInt = 4
    view.decimal *= 2
    view.optionalDecimal = nil
    view.data = Data([9])
    view.date = Date(timeIntervalSince1970: 1.5)
    view.size = .small
    view.optionalMood = nil
    #expect(view.int == 7)
    #expect(view.string == "a string that is too long to be small")
    #expect(view.optionalString == nil)
    #expect(view.optionalInt == 4)
    #expect(view.data == Data([9]))
    #expect(view.decimal == 0)
    #expect(view.optionalDecimal == nil)
    #expect(view.date == Date(timeIntervalSince1970: 1.5))
    #expect(view.size == .small)
    #expect(view.optionalMood == nil)
    #expect(neighbour.optionalMood == .calm)
    #expect(neighbour.int == -5)
    withExtendedLifetime(rows) {}
  }

  @Test func valuesMoveIntoARowAndTheObjectShowsThem() throws {
    let stage = RowStage()
    let object = filled()
    let copy = ModelEverything()
    for property in ClassReflection.of(ModelEverything.self).properties
    where property.target == nil {
      #expect(property.write(property.readBoxed(object), copy))
    }
    let rows = WorkingCluster(try storeSchema(ModelEverything.self))
    let slot = rows.insert(ObjectKey(1))
    stage.show(object, rows, slot: slot)
    let binding = ClassBinding(ClassReflection.of(ModelEverything.self), rows.schema)
    binding.moveScalars(object)
    binding.moveLinks(object)
    expectEqual(object, copy)
    withExtendedLifetime(rows) {}
  }

  @Test(arguments: ["", "a", "seven77", "eight888", "nine99999", "fifteen letters"])
  func shortStringsBuiltDirectlyAreRealStrings(_ text: String) throws {
    let stage = RowStage()
    let rows = WorkingCluster(try storeSchema(ModelToy.self))
    for key in 0..<3 { _ = rows.insert(ObjectKey(Int64(key))) }
    let column = try #require(rows.schema.named("colour")).id
    rows.setString(column, 0, "zzzzzzzzzzzzzzzz")
    rows.setString(column, 1, text)
    rows.setString(column, 2, "Grüße, 世界")
    let toy = ModelToy()
    try stage.showEncoded(toy, rows, slot: 1)
    #expect(toy.color == text)
    #expect(toy.color.hashValue == text.hashValue)
    #expect(toy.color + "!" == text + "!")
    #expect(Array(toy.color) == Array(text))
    try stage.showEncoded(toy, rows, slot: 2)
    #expect(toy.color == "Grüße, 世界")
  }

  @Test(arguments: [0, 1, -1, 0.5, -0.25, 800_000_000.123_456_7, -63_114_076_800, 1e12 + 0.001])
  func datesComeBackExactly(_ interval: Double) {
    let date = Date(timeIntervalSinceReferenceDate: interval)
    #expect(Date._unbox(date._box()) == date)
  }

  @Test func datesNearTheReferenceDateAreKeptToTheNanosecond() {
    let date = Date(timeIntervalSinceReferenceDate: 0.999_999_999_9)
    #expect(date.timestamp == Timestamp(seconds: 978_307_201, nanoseconds: 0))
  }

  @Test func numbersThatDoNotFitTrap() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let stage = RowStage()
      let rows = WorkingCluster(try storeSchema(ModelEverything.self))
      let view = ModelEverything()
      stage.show(view, rows, slot: rows.insert(ObjectKey(1)))
      rows.setInt(try #require(rows.schema.named("int8")).id, 0, 300)
      _ = view.int8
    }
    try expect("holds 300, which does not fit", in: result)
  }

  @Test func unknownCasesReadAsNilOrTrap() async throws {
    let stage = RowStage()
    let rows = WorkingCluster(try storeSchema(ModelEverything.self))
    let view = ModelEverything()
    stage.show(view, rows, slot: rows.insert(ObjectKey(1)))
    rows.setString(try #require(rows.schema.named("optionalMood")).id, 0, "gone")
    #expect(view.optionalMood == nil)
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let stage = RowStage()
      let rows = WorkingCluster(try storeSchema(ModelEverything.self))
      let view = ModelEverything()
      stage.show(view, rows, slot: rows.insert(ObjectKey(1)))
      rows.setString(try #require(rows.schema.named("mood")).id, 0, "gone")
      _ = view.mood
    }
    try expect("holds gone, which is no case of", in: result)
  }
}
