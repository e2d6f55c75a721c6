import Foundation
import Tarn
import Testing

@testable import TarnDaemon

/// The ids of events of several files.
struct FeedPointTests {
  private func position(_ version: Int) -> ChangePosition {
    ChangePosition("AF11F38A-D1C8-96E9-DC49-3114BC34C012/\(version)/f6250ec265baf384")!
  }

  @Test func isReadFromItsText() throws {
    var point = FeedPoint(["/srv/a": position(1), "/srv/b": position(2)])
    point.move("/srv/a", to: position(.max))
    let text = point.text
    #expect(text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "+") })
    let read = try #require(FeedPoint(text))
    #expect(read.position(in: "/srv/a") == position(.max))
    #expect(read.position(in: "/srv/b") == position(2))
    #expect(read.position(in: "/srv/c") == nil)
    #expect(FeedPoint(FeedPoint().text)?.position(in: "/srv/a") == nil)
  }

  /// Of many files it has those that changed last.
  @Test func isBounded() throws {
    var point = FeedPoint()
    for number in 1...2_000 { point.move("/srv/\(number)", to: position(number)) }
    point.move("/srv/1", to: position(3_000))
    #expect(point.text.utf8.count <= FeedPoint.textBytesMax + 10)
    let read = try #require(FeedPoint(point.text))
    #expect(read.position(in: "/srv/1") == position(3_000))
    #expect(read.position(in: "/srv/2000") == position(2_000))
    #expect(read.position(in: "/srv/2") == nil)
  }

  @Test(arguments: ["", "x", "files.%", "files.AAAA", "AF11F38A-D1C8-96E9-DC49-3114BC34C012/1/1"])
  func otherTextsAreNone(_ text: String) { #expect(FeedPoint(text) == nil) }
}
