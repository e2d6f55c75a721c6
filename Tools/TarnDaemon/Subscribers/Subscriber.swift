import Dispatch
import Foundation
import Tarn
import TarnStore
import ToolSupport

/// A client of a hub: where it is in each file, and what it has not taken yet.
///
/// Threading: on its hub's queue.
final class Subscriber: Sendable {
  /// A batch for the client, which may be long: `rest` has what follows the first piece.
  struct Line {
    let path: String
    let end: ChangePosition
    let first: Piece
    let rest: BatchLines?
  }

  /// A part of a batch: of one of its lines, at whose end it ends at the latest.
  struct Piece {
    let bytes: [UInt8]
    /// Whether the line is the last one of the batch.
    let isOfLastLine: Bool
  }

  /// What takes bytes to a client. Called on the hub's queue.
  protocol Transport: AnyObject, Sendable {
    /// Takes a piece of a line; calls `Subscriber.isTaken` once it is gone.
    ///
    /// - Parameter id: returns where the client is after the line, by which it can come back; nil
    ///   before the last line of a batch.
    /// - Returns: whether it is gone already.
    func send(_ bytes: [UInt8], id: () -> String?) -> Bool
    /// Ends the connection; the reason is for the client.
    func close(_ reason: String)
    /// Whether the client has left, as far as that shows without sending something. Any thread.
    var hasLeft: Bool { get }
    /// Sends something without a meaning if the connection was quiet for long, to notice a client
    /// that has left.
    func keepAlive()
  }

  // Confined to the hub's queue.
  private struct State: @unchecked Sendable {  // because: see above
    var point: FeedPoint
    /// The files in which there may be more.
    var pending: [String] = []
    var line: Line?
    /// The next piece of the line.
    var rest: Piece?
    var isBusy = false
    var busySince = DispatchTime.now()
    var hasEnded = false
  }

  private nonisolated(unsafe) var state: State  // because: on the hub's queue
  private let transport: any Transport
  private let patience: Duration
  private unowned let hub: FeedHub

  /// - Parameter point: where the client is; of other files it gets the state.
  init(
    _ hub: FeedHub, _ transport: any Transport, patience: Duration,
    at point: FeedPoint
  ) {
    self.hub = hub
    self.transport = transport
    self.patience = patience
    state = State(point: point)
  }

  // MARK: - For the hub

  /// There may be more in a file.
  func begin(_ path: String) {
    if !state.pending.contains(path) { state.pending.append(path) }
  }

  /// A file was replaced: its next line is a new beginning, unless it has the client's position.
  func end(_ path: String) {
    state.pending.removeAll { $0 == path }
    state.point.doubt(path)
  }

  var wantsMore: Bool { !state.isBusy && !state.hasEnded }
  func nextPath() -> String? { state.pending.first }
  func place(in path: String) -> FeedPoint.Place? { state.point.place(in: path) }
  func isCurrent(_ path: String) { state.pending.removeAll { $0 == path } }
  /// The file has had the client's position.
  func confirm(_ path: String) { state.point.confirm(path) }
  func moved(_ path: String, to position: ChangePosition) {
    state.point.move(path, to: position)
  }

  func send(_ line: Line) {
    state.line = line
    sendPiece(line.first)
  }

  /// Where the client is after the line.
  private func id(after line: Line) -> String {
    guard FileTable.isPattern(hub.watch.file) else {
      return "\(ClientPosition(line.end, selection: hub.selection))"
    }
    var point = state.point
    point.move(line.path, to: line.end)
    return point.text
  }

  private func sendPiece(_ piece: Piece) {
    guard let line = state.line else { return }
    var piece = piece
    while true {
      let next: Piece?
      do throws(DeliveryFailure) {
        let bytes = try line.rest?.piece()
        next = bytes.map { Piece(bytes: $0, isOfLastLine: line.rest?.isAtLastLine ?? true) }
      } catch {
        // What is sent of the line cannot be taken back.
        return drop("\(error)")
      }
      state.isBusy = true
      state.busySince = .now()
      let isGone = transport.send(piece.bytes) { piece.isOfLastLine ? id(after: line) : nil }
      if next == nil { finishLine() }
      guard isGone, !state.hasEnded else {
        state.rest = next
        return
      }
      state.isBusy = false
      guard let next else { return }
      piece = next
    }
  }

  private func finishLine() {
    guard let line = state.line else { return }
    state.point.move(line.path, to: line.end)
    state.line = nil
  }

  /// The transport has room again.
  func isTaken() {
    guard state.isBusy, !state.hasEnded else { return }
    state.isBusy = false
    if let piece = state.rest.take() { sendPiece(piece) }
    if wantsMore { hub.serve(self) }
  }

  /// Any thread.
  var hasLeft: Bool { transport.hasLeft }

  /// Drops a client that does not read, or lets the transport find out whether it is there.
  func check() {
    if state.hasEnded { return }
    guard state.isBusy else { return transport.keepAlive() }
    guard DispatchTime.now() > state.busySince + patience.interval else { return }
    drop("the client did not read for \(patience.rounded) s")
  }

  func endIfLeft() {
    if state.hasEnded || !transport.hasLeft { return }
    transport.close("the client has left")
    isGone()
  }

  /// Ends it, and says why.
  func drop(_ reason: String) {
    if state.hasEnded { return }
    state = State(point: FeedPoint(for: hub.selection), hasEnded: true)
    transport.close(reason)
    hub.remove(self, dropped: true)
  }

  /// The client is gone.
  func isGone() {
    if state.hasEnded { return }
    state = State(point: FeedPoint(for: hub.selection), hasEnded: true)
    hub.remove(self, dropped: false)
  }
}
