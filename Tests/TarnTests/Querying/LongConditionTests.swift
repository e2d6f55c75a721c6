import Foundation
import TarnStore
import TestSupport
import Testing

@testable import Tarn

/// Conditions of so many terms that they are tested together.
struct LongConditionTests {
  private let archive: Archive

  init() throws { archive = try Archive(Shelter(), seed: 1, count: 200) }

  private func literal(_ value: Any?) -> String {
    switch value {
    case nil: "NULL"
    case let text as String: TarnStore.Value.string(text).predicateText
    case let value?: "\(value)"
    }
  }

  @Test(arguments: ["text", "note", "number", "size", "folder.color"])
  func theyFindWhatTheirTermsFind(_ name: String) throws {
    let some = archive.records.prefix(3)
    // The others are not there, and only make the condition long.
    let literals =
      switch name {
      case "number", "size":
        some.map { literal($0[name]) } + (0..<30).map { "\($0 - 900_000).0" }
      case "folder.color": ["NULL"] + (0..<30).map { "'absent \($0)'" }
      default: some.map { literal($0[name]) } + ["NULL"] + (0..<30).map { "'absent \($0)'" }
      }
    func found(_ text: String) throws -> Set<Int> {
      Set(try archive.records.filtered(text).map(\.id))
    }
    let terms = literals.map { "\(name) == \($0)" }
    var expected: Set<Int> = []
    for term in terms { expected.formUnion(try found(term)) }
    #expect(!expected.isEmpty)
    #expect(expected.count < 200)
    #expect(try found(terms.joined(separator: " OR ")) == expected)
    let opposites = literals.map { "\($0) != \(name)" }
    let others = try found(opposites.joined(separator: " AND "))
    #expect(others == Set(archive.records.map(\.id)).subtracting(expected))
  }

  @Test func aChainOfThousands() throws {
    let numbers = Array(0..<20_000)
    let text = numbers.map { "number == \($0)" }.joined(separator: " OR ")
    let found = try archive.records.filtered(text)
    #expect(found.count == archive.records.count { numbers.contains($0.number) })
    let same = archive.records.where { record in
      numbers.dropFirst().reduce(record.number == 0) { $0 || record.number == $1 }
    }
    #expect(same.map(\.id) == found.map(\.id))
    let none = numbers.map { "number != \($0)" }.joined(separator: " AND ")
    #expect(try archive.records.filtered(none).count + found.count == archive.records.count)
  }
}
