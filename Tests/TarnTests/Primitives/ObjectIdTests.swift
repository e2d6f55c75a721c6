import Foundation
import Testing

@testable import Tarn

@Suite struct ObjectIdTests {
  @Test func textAndIdentifiersAreTheSameThing() throws {
    let id = try ObjectId(string: "507f1f77bcf86cd799439011")
    #expect(id.stringValue == "507f1f77bcf86cd799439011")
    #expect(id == ObjectId("507F1F77BCF86CD799439011"))
    #expect(id.timestamp == Date(timeIntervalSince1970: 1_350_508_407))
    #expect(ObjectId().stringValue == String(repeating: "0", count: 24))
    for _ in 0..<100 {
      let id = ObjectId.generate()
      #expect(try ObjectId(string: id.stringValue) == id)
    }
  }

  @Test(arguments: ["", "507f1f77bcf86cd79943901", "507f1f77bcf86cd7994390111", "xyz", "é"])
  func otherTextIsRefused(_ text: String) {
    let error = #expect(throws: ObjectIdFormatError.self) { try ObjectId(string: text) }
    #expect(error?.text == text)
  }

  @Test func generatedIdentifiersDifferAndTellTheTime() {
    let before = Date().timeIntervalSince1970.rounded(.down)
    let ids = (0..<10_000).map { _ in ObjectId.generate() }
    let after = Date().timeIntervalSince1970
    #expect(Set(ids).count == ids.count)
    #expect(ids.allSatisfy { (before...after).contains($0.timestamp.timeIntervalSince1970) })
    let processes = Set(ids.map { $0.stringValue.dropFirst(8).prefix(10) })
    #expect(processes.count == 1)
  }

  /// At its very beginning a second is told as what it is. This waits for the clock, which is what
  /// it tests.
  @Test func secondsBeginWithThoseOfDates() {
    let next = Date().timeIntervalSince1970.rounded(.down) + 1
    while Date().timeIntervalSince1970 < next { sched_yield() }
    #expect(ObjectId.generate().timestamp.timeIntervalSince1970 >= next)
  }

  @Test func orderIsThatOfTheBytes() {
    let low = ObjectId("000000010000000000000000")
    let high = ObjectId("000000010000000000000001")
    let top = ObjectId("ff0000000000000000000000")
    #expect([top, high, low].sorted() == [low, high, top])
    #expect(top.stringValue > high.stringValue)
  }

  @Test func partsGoWhereTheyBelong() {
    let time = Date(timeIntervalSince1970: 256)
    let id = ObjectId(timestamp: time, machineId: 0xABCDEF, processId: 0x1234)
    #expect(id.stringValue.hasPrefix("00000100abcdef1234"))
    #expect(id.timestamp == time)
  }

  @Test func codingIsAsAString() throws {
    let ids = [ObjectId("507f1f77bcf86cd799439011")]
    let json = try JSONEncoder().encode(ids)
    #expect(String(decoding: json, as: UTF8.self) == #"["507f1f77bcf86cd799439011"]"#)
    #expect(try JSONDecoder().decode([ObjectId].self, from: json) == ids)
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode([ObjectId].self, from: Data(#"["nope"]"#.utf8))
    }
  }
}
