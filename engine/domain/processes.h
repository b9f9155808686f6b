// Which device each process of a job takes, and what users are told of that.
#pragma once

#include <cstdint>
#include <string>

namespace perrin {

class Device;

/// The name of the device that this process takes where a job names `name`: of several processes of
/// a host that want a GPU the k-th takes its k-th.
std::string device_of_process(const std::string& name);
/// "4 processes, each NVIDIA H200", or the device alone.
std::string description_of_devices(const Device& device);

/// Of a stage whose work is not distributed, and of one with n particles, on a device that joins
/// the domain decomposition: which processes do nothing useful. Empty: all of them work.
std::string why_not_distributed();
std::string why_idle(const Device& device, std::int64_t n);

}  // namespace perrin
