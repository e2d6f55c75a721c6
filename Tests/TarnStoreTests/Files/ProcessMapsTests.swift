import Testing

@testable import TarnStore

@Suite struct ProcessMapsTests {
  @Test func `shared mappings of one file are picked out of the kernel's list`() {
    let text = """
      55d0c0000000-55d0c0001000 r--p 00000000 fe:01 99 /bin/x
      7f0000000000-7f0000002000 r--s 00000000 fe:01 4711 /tmp/x.realm
      7f0000004000-7f0000005000 r--p 00000000 fe:01 4711 /tmp/x.realm
      7f0000006000-7f0000007000 r--s 00001000 fe:02 4711 /tmp/y.realm
      7f0000008000-7f0000009000 r--s 00001000 fe:01 4712 /tmp/z.realm
      7ffd1000-7ffd2000 rw-p 00000000 00:00 0 [stack]
      """
    let whole = ProcessMaps.Mapping(
      start: 0x7f00_0000_0000, end: 0x7f00_0000_2000, fileOffset: 0)
    #expect(ProcessMaps.parse(Array(text.utf8), fileAt: 0x7f00_0000_4000) == [whole])
    #expect(ProcessMaps.parse(Array(text.utf8), fileAt: 0x7f00_0000_1fff) == [whole])
    #expect(ProcessMaps.parse(Array(text.utf8), fileAt: 0x55d0_c000_0000) == [])
    #expect(ProcessMaps.parse(Array(text.utf8), fileAt: 0x7f00_0000_5000) == [])
  }

  @Test func `slots of the table of readers are parsed`() {
    let text = "    pid     thread     txnid\n      42 7f00 17\n      43 7f01 -\n"
    #expect(
      ReaderTable.parse(text) == [
        .init(processID: 42, transactionID: 17), .init(processID: 43, transactionID: nil),
      ])
    #expect(ReaderTable.parse("(no readers)\n") == [])
  }

  @Test(arguments: [
    ("      42 7f00 17\n", 17), ("      43 7f01 -\n", nil),
    ("4 0 18446744073709551614\n", .max - 1),
    ("    pid     thread     txnid\n", nil), ("(no active readers)\n", nil), ("1 2 3 4\n", nil),
    ("1 2\n", nil), ("", nil),
  ])
  func `the transaction of a line of the table of readers is found`(_ line: String, _ id: UInt64?) {
    #expect(line.withCString { ReaderTable.transactionID(inLine: $0) } == id)
  }

  @Test func `a fault plan meets its hit by number or by name and occurrence`() {
    let byNumber = FaultPlan(target: "3", countFile: nil, signal: 0)
    #expect(byNumber.isTarget(number: 3, name: "a", occurrence: 1))
    #expect(!byNumber.isTarget(number: 2, name: "3", occurrence: 3))
    let byName = FaultPlan(target: "commit.afterPut:2", countFile: nil, signal: 0)
    #expect(byName.isTarget(number: 9, name: "commit.afterPut", occurrence: 2))
    #expect(!byName.isTarget(number: 9, name: "commit.afterPut", occurrence: 1))
    #expect(!FaultPlan(target: nil, countFile: nil, signal: 0).isWanted)
  }
}
