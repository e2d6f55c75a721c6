import TestSupport
import Testing

@testable import TarnStore

/// Classes with more properties than an object has room for.
@Suite struct WideClassTests {
  private static let types: [ColumnType] = [
    .int, .bool, .string, .data, .date, .float, .double, .objectID, .uuid, .decimal, .any,
  ]

  private func wide(_ count: Int, _ type: ColumnType) -> ClassDefinition {
    ClassDefinition(
      name: "Wide",
      properties: (0..<count).map { .init(name: "p\($0)", type: type, isOptional: type == .any) })
  }

  private func error(_ body: () throws -> Void) -> StorageError? {
    do { try body() } catch { return error as? StorageError }
    return nil
  }

  /// A value whose cell is as long as one of the type can be.
  private func longest(_ type: ColumnType) -> Value {
    switch type {
    case .int, .link: .int(.max)
    case .bool: .bool(true)
    case .string: .string(String(repeating: "x", count: 300))
    case .data: .data(Array(repeating: 1, count: 300))
    case .any: .string(String(repeating: "x", count: 300))
    case .date: .date(Timestamp(seconds: 1, nanoseconds: 999_999_999))
    case .float: .float(1)
    case .double: .double(1)
    case .objectID: .objectID(Bytes12(high: 1, low: 1))
    case .uuid: .uuid(Bytes16(high: 1, low: 1))
    case .decimal: .decimal(Bytes16(high: 1, low: 1))
    }
  }

  @Test(arguments: types)
  func `a class that opens takes objects with every value`(type: ColumnType) throws {
    var (most, tooMany) = (1, 500)
    while tooMany - most > 1 {
      let count = (most + tooMany) / 2
      let store = TemporaryStore()
      guard let failure = error({ _ = try store.open([wide(count, type)]) }) else {
        most = count
        continue
      }
      #expect(failure.code == .limitExceeded)
      #expect(failure.detail.contains("'Wide'"))
      tooMany = count
    }
    #expect((160...460).contains(most), "\(most)")
    let store = TemporaryStore()
    let opened = try store.open([wide(most, type)])
    try opened.write { session in
      let values = (0..<most).map { (ColumnID(UInt16($0)), longest(type)) }
      _ = try session.create(Dictionary(uniqueKeysWithValues: values), in: ClassID(0))
    }
  }

  @Test func `a class of an older file keeps its properties, and gets no others`() throws {
    let store = TemporaryStore()
    let message = try #require(error { _ = try store.open([wide(300, .string)]) }).detail
    #expect(message.contains("300"))
    #expect(message.contains("embedded objects"))
    #expect(!message.contains("row"))
    #expect(!message.contains("column"))
    do { _ = try store.open([wide(100, .string)]) }
    #expect(error { _ = try store.open([wide(300, .string)]) }?.code == .limitExceeded)
    _ = try store.open([wide(101, .string)])
  }

  @Test func `more properties than a class can have are refused`() {
    let store = TemporaryStore()
    #expect(error { _ = try store.open([wide(100_000, .int)]) }?.code == .limitExceeded)
    // The bound before planning lets every class through that fits.
    #expect(ClassSchema.columnCountMax >= 460)
    let most = ClassSchema.columnCountMax
    #expect(error { _ = try store.open([wide(most + 1, .bool)]) }?.code == .limitExceeded)
  }
}
