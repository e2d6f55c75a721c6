import Foundation
import Tarn
import Testing

@testable import TarnDaemon

/// The ids of events of several files.
struct FeedPointTests {
  private func position(_ version: Int) -> ChangePosition {
    ChangePosition("AF11F38A-D1C8-96E9-DC49-3114BC34C012/\(version)/f6250ec265baf384")!
  }

  private func sent(_ version: Int, _ selection: String? = nil) -> ClientPosition {
    ClientPosition(position(version), selection: selection)
  }

  @Test func isReadFromItsText() throws {
    var point = FeedPoint(["/srv/a": sent(1, "s"), "/srv/b": sent(2, "s")], for: "s")
    point.move("/srv/a", to: position(.max))
    let text = point.text
    #expect(text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "+") })
    let read = try #require(FeedPoint(text, for: "s"))
    #expect(read.place(in: "/srv/a") == .init(position: position(.max), standing: .sent))
    #expect(read.place(in: "/srv/b") == .init(position: position(2), standing: .sent))
    #expect(read.place(in: "/srv/c") == nil)
    #expect(FeedPoint(FeedPoint(for: "s").text, for: "s")?.place(in: "/srv/a") == nil)
  }

  /// Of many files it has those that changed last.
  @Test func isBounded() throws {
    var point = FeedPoint(for: "0123456789abcdef")
    for number in 1...2_000 { point.move("/srv/\(number)", to: position(number)) }
    point.move("/srv/1", to: position(3_000))
    #expect(point.text.utf8.count <= FeedPoint.textBytesMax + 30)
    let read = try #require(FeedPoint(point.text, for: "0123456789abcdef"))
    #expect(read.place(in: "/srv/1")?.position == position(3_000))
    #expect(read.place(in: "/srv/2000")?.position == position(2_000))
    #expect(read.place(in: "/srv/2") == nil)
  }

  @Test func knowsWhatItsPositionsAreFor() throws {
    let (a, b, c) = ("/srv/a", "/srv/b", "/srv/c")
    var point = FeedPoint([a: sent(1, "s"), b: sent(2, "other"), c: sent(3)], for: "s")
    #expect(
      [a, b, c].map { point.place(in: $0)?.standing }
        == [.sent, .ofOtherSelection, .ofOtherSelection])
    // A client that leaves before it has the new selection of a file has nothing of that file.
    let read = try #require(FeedPoint(point.text, for: "s"))
    #expect([a, b, c].map { read.place(in: $0)?.position.version } == [1, nil, nil])
    let later = try #require(FeedPoint(point.text, for: "t"))
    #expect(later.place(in: a)?.standing == .ofOtherSelection)
    // An earlier version wrote no selection: it may be any.
    let former = try #require(point.text.split(separator: ".s").first)
    for selection in ["s", "t"] {
      let read = FeedPoint(String(former), for: selection)
      #expect(read?.place(in: a)?.standing == .ofOtherSelection)
    }
    point.move(b, to: position(4))
    point.confirm(a)
    #expect(
      [a, b, c].map { point.place(in: $0)?.standing }
        == [.confirmed, .confirmed, .ofOtherSelection])
    point.doubt(a)
    #expect(point.place(in: a)?.standing == .sent)
  }

  @Test(arguments: [
    "", "x", "files.%", "files.AAAA", "files..s.t",
    "AF11F38A-D1C8-96E9-DC49-3114BC34C012/1/1",
  ])
  func otherTextsAreNone(_ text: String) { #expect(FeedPoint(text, for: "s") == nil) }

  @Test func aPositionMayHaveASelection() {
    for position in [sent(5), sent(5, "0123456789abcdef")] {
      #expect(ClientPosition("\(position)") == position)
    }
    for text in ["", "x", "\(position(1))/a/b", "\(position(1).historyID)/1"] {
      #expect(ClientPosition(text) == nil, "\(text)")
    }
  }
}
