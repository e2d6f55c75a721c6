import Foundation
import Testing
import ToolSupport

@testable import TarnStore

extension ProcessTests {
  /// Damaged files: the outcome is an error or a trap with our message, never a crash or a hang,
  /// wherever it is for us to notice.
  @Suite struct DamageTests {
    private func outcomes(
      _ file: StressFile, _ count: Int, _ ranges: String, seed: Int = 1
    ) throws -> [String] {
      let (lines, end) = try StressTool.worker(
        "damage", file.path, "\(count)", "\(seed)", ranges
      ).finish()
      #expect(end == .exited(0))
      return lines.map { String($0.drop { $0 != ":" }.dropFirst(2)) }
    }

    /// A file that has every kind of record.
    private func grown() throws -> StressFile {
      let file = try StressFile()
      let grown = try StressTool.worker("open", file.path, "3", "1", "write").finish()
      #expect(grown.lines == ["opened 120"])
      return file
    }

    /// Where the values of a kind of record lie in the file, as ranges for the worker.
    private func positions(of tag: TreeKey.Tag, in file: StressFile) throws -> String {
      let environment = try Environment.open(path: file.path)
      defer { environment.close() }
      let transaction = try environment.beginRead()
      var cursor = try Cursor(transaction)
      var ranges: [String] = []
      var key: [UInt8] = [tag.rawValue]
      while try key.withUnsafeBytes({ bytes throws(StorageError) in
        try cursor.seek(atOrAfter: bytes)
      }), cursor.key.first == tag.rawValue {
        let start = try environment.mapStart(of: environment.firstEngine)
        let position = UInt(bitPattern: cursor.value.baseAddress) - start
        ranges.append("\(position)-\(position + UInt(cursor.value.count))")
        key = Array(cursor.key) + [0]
      }
      #expect(!ranges.isEmpty)
      return ranges.joined(separator: ",")
    }

    private func tally(_ outcomes: [String]) -> [String: Int] {
      Dictionary(grouping: outcomes) { String($0.prefix { $0 != " " }) }.mapValues(\.count)
    }

    @Test func `a file cut at any page is refused or whole`() throws {
      let file = try StressFile()
      let found = try outcomes(file, 0, "cut")
      for outcome in found {
        let isRight =
          outcome.hasPrefix("error invalidDatabase") || outcome.hasPrefix("fine")
        #expect(isRight, "\(outcome)")
      }
      print("cut: \(tally(found))")
    }

    @Test func `a flipped bit of a header page is an error or harmless`() throws {
      let file = try grown()
      let found = try outcomes(file, 60, "0-152,4096-4248")
      let allowed = ["error invalidDatabase", "error unsupportedFileFormatVersion", "fine"]
      for outcome in found {
        #expect(allowed.contains { outcome.hasPrefix($0) }, "\(outcome)")
      }
      print("header: \(tally(found))")
    }

    @Test func `a flipped bit of the head record is an error`() throws {
      let file = try grown()
      let found = try outcomes(file, 20, positions(of: .head, in: file))
      for outcome in found { #expect(outcome.hasPrefix("error invalidDatabase"), "\(outcome)") }
    }

    @Test func `a flipped bit of the schema is an error`() throws {
      let file = try grown()
      let found = try outcomes(file, 30, positions(of: .schema, in: file))
      // The form's number lies in it as well.
      let allowed = ["error invalidDatabase", "error unsupportedFileFormatVersion"]
      for outcome in found {
        #expect(allowed.contains { outcome.hasPrefix($0) }, "\(outcome)")
      }
    }

    @Test(arguments: [
      TreeKey.Tag.classRecord, .cluster, .rowCounts, .index, .change,
    ])
    func `a flipped bit of a record never crashes`(_ tag: TreeKey.Tag) throws {
      let file = try grown()
      let found = try outcomes(file, 25, positions(of: tag, in: file))
      for outcome in found {
        #expect(!outcome.hasPrefix("crash"), "\(tag) \(outcome)")
        #expect(!outcome.hasPrefix("hang"), "\(tag) \(outcome)")
      }
      print("\(tag): \(tally(found))")
    }

    /// What only a walk of all pages notices: not asserted on, but counted.
    @Test func `a flipped bit anywhere is found by the walk or ends the process alone`() throws {
      let file = try grown()
      let found = try outcomes(file, 60, "8192-\(file.bytes.count)")
      for outcome in found { #expect(!outcome.hasPrefix("hang"), "\(outcome)") }
      print("anywhere: \(tally(found)) \(found.filter { $0.hasPrefix("crash") })")
    }
  }
}
